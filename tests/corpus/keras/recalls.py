import numpy as np
import tensorflow as tf
from tensorflow import keras
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score, classification_report
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(31)

X, y = make_classification(n_samples=6000, n_features=16, n_informative=8, n_redundant=0, weights=[0.95],
                           class_sep=1.8, flip_y=0.003, random_state=31)
X = X.astype("float32")
X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.25, stratify=y, random_state=2)
X_tr, X_va, y_tr, y_va = train_test_split(X_tr, y_tr, test_size=0.2, stratify=y_tr, random_state=2)

mu, sd = X_tr.mean(axis=0), X_tr.std(axis=0)
X_tr, X_va, X_te = (X_tr - mu) / sd, (X_va - mu) / sd, (X_te - mu) / sd

neg, pos = np.bincount(y_tr)
total = neg + pos
print(f"{pos} recalled of {total} ({100 * pos / total:.1f}%)")
class_weight = {0: total / (2.0 * neg), 1: total / (2.0 * pos)}

METRICS = [
    keras.metrics.Precision(name="precision"),
    keras.metrics.Recall(name="recall"),
    keras.metrics.AUC(name="prc", curve="PR"),
]
model = keras.Sequential([
    keras.layers.Input((16,)),
    keras.layers.Dense(48, activation="relu"),
    keras.layers.Dropout(0.3),
    keras.layers.Dense(24, activation="relu"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=keras.losses.BinaryCrossentropy(), metrics=METRICS)
stop = keras.callbacks.EarlyStopping(monitor="val_prc", mode="max", patience=6, restore_best_weights=True)
model.fit(X_tr, y_tr, validation_data=(X_va, y_va), epochs=25, batch_size=128, class_weight=class_weight,
          callbacks=[stop], verbose=2)

p = model.predict(X_te, batch_size=512, verbose=0).ravel()
print("average precision", average_precision_score(y_te, p), "prevalence", y_te.mean())
print(classification_report(y_te, p > 0.5, digits=3))
