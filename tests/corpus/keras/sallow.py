import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score, precision_recall_curve, precision_score, recall_score
from sklearn.model_selection import train_test_split
from tensorflow import keras

keras.utils.set_random_seed(8)
X, y = make_classification(n_samples=20000, n_features=24, n_informative=10, n_redundant=4, n_clusters_per_class=3,
                           weights=[0.95], flip_y=0.003, class_sep=1.3, random_state=8)
X = (X * np.geomspace(0.01, 500, X.shape[1])).astype("float32")
X_rest, X_test, y_rest, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=1)
X_train, X_val, y_train, y_val = train_test_split(X_rest, y_rest, test_size=0.2, stratify=y_rest, random_state=1)

scale = keras.layers.Normalization()
scale.adapt(X_train)
model = keras.Sequential([
    keras.Input((X.shape[1],)),
    scale,
    keras.layers.Dense(64, use_bias=False),
    keras.layers.BatchNormalization(),
    keras.layers.Activation("relu"),
    keras.layers.Dropout(0.4),
    keras.layers.Dense(32, activation="relu"),
    keras.layers.Dense(1),
])
model.compile(
    optimizer=keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.AUC(curve="PR", from_logits=True, name="pr_auc")],
)
share = y_train.mean()
weights = {0: 0.5 / (1 - share), 1: 0.5 / share}
print("positives: %.3f, weights: %s" % (share, weights))
model.fit(
    X_train, y_train, validation_data=(X_val, y_val), batch_size=256, epochs=40, verbose=2, class_weight=weights,
    callbacks=[
        keras.callbacks.ReduceLROnPlateau("val_pr_auc", mode="max", factor=0.3, patience=4),
        keras.callbacks.EarlyStopping("val_pr_auc", mode="max", patience=7, restore_best_weights=True),
    ],
)

# weights shift the scores, so the cut is chosen on the validation rows
val_scores = model.predict(X_val, verbose=0).ravel()
precision, recall, cuts = precision_recall_curve(y_val, val_scores)
f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-9)
cut = cuts[f1[:-1].argmax()]
scores = model.predict(X_test, verbose=0).ravel()
flagged = (scores >= cut).astype(int)
print("test: average precision %.3f (share of positives %.3f)" % (average_precision_score(y_test, scores), y_test.mean()))
print("test: precision %.3f, recall %.3f" % (precision_score(y_test, flagged), recall_score(y_test, flagged)))
