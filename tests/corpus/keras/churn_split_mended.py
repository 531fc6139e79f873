"""Customer churn, small survey sample. tf.data pipeline + keras fit."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf
import keras
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

tf.keras.utils.set_random_seed(5)

# 1200 customers we may use + 1000 customers surveyed one year later
X, y = make_classification(n_samples=2200, n_features=30, n_informative=14,
                           n_redundant=4, n_clusters_per_class=4,
                           class_sep=1.3, flip_y=0.02, random_state=21)
X_now, y_now = X[:1200], y[:1200]
X_later, y_later = X[1200:], y[1200:]
scaler = StandardScaler().fit(X_now)
X_now = scaler.transform(X_now).astype("float32")
X_later = scaler.transform(X_later).astype("float32")

n_val = 240
dataset = tf.data.Dataset.from_tensor_slices((X_now, y_now))
dataset = dataset.shuffle(len(X_now), seed=5, reshuffle_each_iteration=False)
val_ds = dataset.take(n_val).batch(40)
train_ds = dataset.skip(n_val).shuffle(1000).batch(40)


def build():
    inp = keras.Input(shape=(30,))
    z = keras.layers.Dense(96, activation="gelu")(inp)
    z = keras.layers.Dense(96, activation="gelu")(z)
    out = keras.layers.Dense(1, activation="sigmoid")(z)
    return keras.Model(inp, out, name="churn")


model = build()
model.compile(optimizer=keras.optimizers.Adam(2e-3),
              loss=keras.losses.BinaryCrossentropy(),
              metrics=["accuracy", keras.metrics.AUC(name="auc")])
hist = model.fit(train_ds, validation_data=val_ds, epochs=20, verbose=2)

print("best validation accuracy: %.3f" % max(hist.history["val_accuracy"]))
print("last validation accuracy: %.3f" % hist.history["val_accuracy"][-1])
_, acc, auc = model.evaluate(X_later, y_later, verbose=0)
print("accuracy one year later : %.3f (auc %.3f)" % (acc, auc))
