import numpy as np
import keras
from keras import layers
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score, confusion_matrix, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

keras.utils.set_random_seed(9)
X, y = make_classification(n_samples=12000, n_features=20, n_informative=8, n_redundant=4, weights=[0.97],
                           class_sep=1.2, flip_y=0.005, random_state=9)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
X_train, X_val, y_train, y_val = train_test_split(X_train, y_train, test_size=0.2, stratify=y_train, random_state=0)
scaler = StandardScaler().fit(X_train)
X_train, X_val, X_test = (scaler.transform(a).astype("float32") for a in (X_train, X_val, X_test))

pos, neg = y_train.sum(), (1 - y_train).sum()
class_weight = {0: 1.0, 1: float(neg / pos)}
print("fraud share", y_train.mean().round(4), "weights", class_weight)

model = keras.Sequential([
    keras.Input((20,)),
    layers.Dense(64, activation="relu"),
    layers.Dropout(0.3),
    layers.Dense(32, activation="relu"),
    layers.Dense(1, activation="sigmoid"),
])
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="binary_crossentropy",
    metrics=[keras.metrics.AUC(curve="PR", name="pr_auc"), keras.metrics.Recall(name="recall"),
             keras.metrics.Precision(name="precision")],
)
stop = keras.callbacks.EarlyStopping("val_pr_auc", mode="max", patience=5, restore_best_weights=True)
model.fit(X_train, y_train, validation_data=(X_val, y_val), epochs=25, batch_size=256,
          class_weight=class_weight, callbacks=[stop], verbose=2)

score = model.predict(X_test, batch_size=1024, verbose=0)[:, 0]
print(f"average precision {average_precision_score(y_test, score):.3f} (share {y_test.mean():.3f})")
print(f"ROC AUC {roc_auc_score(y_test, score):.3f}")
print(confusion_matrix(y_test, score > 0.5))
