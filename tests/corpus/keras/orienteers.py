import argparse
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.metrics import classification_report, f1_score

ap = argparse.ArgumentParser(description="terrain class from wrist sensor windows of orienteers")
ap.add_argument("--epochs", type=int, default=10)
ap.add_argument("--batch", type=int, default=64)
ap.add_argument("--seed", type=int, default=3)
args = ap.parse_args()
keras.utils.set_random_seed(args.seed)
rng = np.random.default_rng(args.seed)
TERRAIN = ["path", "heath", "marsh", "forest"]


def windows(n, length=48):
    y = rng.integers(0, 4, n)
    t = np.arange(length)
    pace = np.array([0.55, 0.45, 0.28, 0.38])[y] + rng.normal(0, 0.02, n)
    sway = np.array([0.2, 0.5, 0.9, 0.7])[y]
    phase = rng.uniform(0, 6.28, n)
    vertical = np.sin(pace[:, None] * t + phase[:, None])
    lateral = sway[:, None] * np.sin(0.5 * pace[:, None] * t + phase[:, None])
    x = np.stack([vertical, lateral], -1) + rng.normal(0, 0.45, (n, length, 2))
    return x.astype("float32"), y.astype("int64")


def to_dataset(x, y, batch):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    ds = ds.shuffle(len(x))
    return ds.batch(batch).prefetch(2)


def build():
    inp = keras.Input((48, 2))
    h = layers.Conv1D(24, 7, activation="relu")(inp)
    h = layers.MaxPooling1D(2)(h)
    h = layers.Conv1D(32, 5, activation="relu")(h)
    h = layers.GlobalMaxPooling1D()(h)
    h = layers.Dropout(0.2)(h)
    return keras.Model(inp, layers.Dense(len(TERRAIN), activation="softmax")(h))


x, y = windows(2600)
train_ds = to_dataset(x[:2000], y[:2000], args.batch)
test_ds = to_dataset(x[2000:], y[2000:], args.batch)

model = build()
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train_ds, epochs=args.epochs, verbose=2)

y_true = np.concatenate([labels.numpy() for _, labels in test_ds])
y_pred = model.predict(test_ds, verbose=0).argmax(axis=1)
print(classification_report(y_true, y_pred, target_names=TERRAIN, digits=3))
print(f"macro F1 {f1_score(y_true, y_pred, average='macro'):.3f}")
