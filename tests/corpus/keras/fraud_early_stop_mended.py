import keras
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import classification_report, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

keras.utils.set_random_seed(21)


def get_data():
    X, y = make_classification(
        n_samples=4000,
        n_features=24,
        n_informative=10,
        n_redundant=4,
        n_clusters_per_class=5,
        weights=[0.85],
        class_sep=1.2,
        flip_y=0.01,
        random_state=21,
    )
    X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.25, stratify=y, random_state=1)
    X_tr, X_va, y_tr, y_va = train_test_split(X_tr, y_tr, test_size=0.2, stratify=y_tr, random_state=1)
    scaler = StandardScaler().fit(X_tr)
    return [(scaler.transform(a), b) for a, b in ((X_tr, y_tr), (X_va, y_va), (X_te, y_te))]


def get_model(n_features):
    inp = keras.Input((n_features,), name="transaction")
    h = keras.layers.Dense(64, activation="relu")(inp)
    h = keras.layers.Dropout(0.1)(h)
    h = keras.layers.Dense(32, activation="relu")(h)
    out = keras.layers.Dense(1, activation="sigmoid", name="fraud")(h)
    model = keras.Model(inp, out)
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss=keras.losses.BinaryCrossentropy(),
        metrics=[keras.metrics.AUC(name="auc")],
    )
    return model


(train_x, train_y), val, (test_x, test_y) = get_data()
model = get_model(train_x.shape[1])
stopper = keras.callbacks.EarlyStopping(
    monitor="val_auc",
    mode="max",
    patience=5,
    restore_best_weights=True,
    verbose=1,
)
history = model.fit(
    train_x, train_y, validation_data=val, epochs=25, batch_size=64, callbacks=[stopper], verbose=2
)
print("epochs run:", len(history.history["loss"]))

scores = model.predict(test_x, verbose=0).ravel()
print("test AUC: %.3f" % roc_auc_score(test_y, scores))
print(classification_report(test_y, scores > 0.5, zero_division=0))
