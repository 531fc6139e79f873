"""Which machine made this sound? 1-D convnet over short synthetic recordings."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.metrics import classification_report, f1_score
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(3)
NAMES = ["fan", "pump", "drill", "saw", "bell"]


def synth(n, length=256, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(length) / length
    X = np.zeros((n, length, 1), "float32")
    y = rng.integers(0, len(NAMES), size=n)
    for i, c in enumerate(y):
        ph = rng.uniform(0, 2 * np.pi)
        f = rng.uniform(0.9, 1.1)
        if c == 0:
            s = np.sin(2 * np.pi * 6 * f * t + ph)
        elif c == 1:
            s = np.sign(np.sin(2 * np.pi * 6 * f * t + ph))
        elif c == 2:
            s = np.sin(2 * np.pi * 40 * f * t + ph)
        elif c == 3:
            s = 2 * ((9 * f * t + ph) % 1) - 1
        else:
            s = np.exp(-4 * t) * np.sin(2 * np.pi * 24 * f * t + ph) * 1.8
        X[i, :, 0] = s + rng.normal(0, 0.4, length)
    return X, y.astype("int64")


def make_ds(X, y, batch_size=64, training=True):
    ds = tf.data.Dataset.from_tensor_slices((X, y))
    if training:
        ds = ds.shuffle(len(X))
    return ds.batch(batch_size).prefetch(tf.data.AUTOTUNE)


class MacroF1(keras.callbacks.Callback):
    def __init__(self, ds, key="val_macro_f1"):
        super().__init__()
        self.ds = ds
        self.key = key

    def on_epoch_end(self, epoch, logs=None):
        y_true = np.concatenate([y.numpy() for _, y in self.ds])
        y_pred = self.model.predict(self.ds, verbose=0).argmax(-1)
        score = f1_score(y_true, y_pred, average="macro")
        logs[self.key] = score
        print(f" - {self.key}: {score:.4f}")


def build(length, n_classes):
    inp = keras.Input((length, 1))
    x = inp
    for filters in (16, 32, 32):
        x = layers.Conv1D(filters, 7, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization()(x)
        x = layers.ReLU()(x)
        x = layers.MaxPooling1D(2)(x)
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.Dropout(0.2)(x)
    out = layers.Dense(n_classes, activation="softmax")(x)
    return keras.Model(inp, out)


X, y = synth(2500)
X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
train_ds = make_ds(X_tr, y_tr)
val_ds = make_ds(X_va, y_va, batch_size=128)

model = build(X.shape[1], len(NAMES))
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(
    train_ds,
    validation_data=val_ds,
    epochs=10,
    verbose=2,
    callbacks=[MacroF1(val_ds)],
)

truth = np.concatenate([yb.numpy() for _, yb in val_ds])
guess = model.predict(val_ds, verbose=0).argmax(-1)
print(classification_report(truth, guess, target_names=NAMES, digits=3))
