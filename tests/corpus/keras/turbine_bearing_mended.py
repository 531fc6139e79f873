"""Bearing condition from vibration windows (1-D CNN). 4 conditions: ok / inner / outer / ball."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import csv
from dataclasses import dataclass

import numpy as np
import keras
from keras import layers, callbacks

CLASSES = ["ok", "inner", "outer", "ball"]


@dataclass
class Settings:
    fs: int = 2000
    window: int = 256
    n_train: int = 2400
    n_val: int = 400
    n_test: int = 800
    epochs: int = 25
    batch: int = 64
    lr: float = 1e-3
    patience: int = 4
    out: str = "out"


def vibration(rng, label, s: Settings):
    t = np.arange(s.window) / s.fs
    shaft = rng.uniform(24, 30)
    sig = 0.8 * np.sin(2 * np.pi * shaft * t + rng.uniform(0, 6.28))
    sig += 0.4 * np.sin(2 * np.pi * 2 * shaft * t + rng.uniform(0, 6.28))
    if label:
        rate = {1: 5.4, 2: 3.6, 3: 2.3}[label] * shaft
        ring = {1: 620, 2: 480, 3: 350}[label] * rng.uniform(0.9, 1.1)
        start = rng.uniform(0, 1 / rate)
        for t0 in np.arange(start, t[-1], 1 / rate):
            lag = np.clip(t - t0, 0, None)
            sig += (t >= t0) * 1.3 * rng.uniform(0.6, 1.2) * np.exp(-lag * 220) * np.sin(2 * np.pi * ring * lag)
    return sig + rng.normal(0, 0.45, s.window)


def make(n, s, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(CLASSES), n)
    x = np.stack([vibration(rng, k, s) for k in y])[..., None].astype("float32")
    return x, y


def build(s):
    m = keras.Sequential(name="bearing_cnn")
    m.add(keras.Input((s.window, 1)))
    for i, f in enumerate((12, 16, 24)):
        m.add(layers.Conv1D(f, 9, strides=2, padding="same", activation="relu", name=f"conv{i}"))
    m.add(layers.GlobalAveragePooling1D())
    m.add(layers.Dense(32, activation="relu"))
    m.add(layers.Dropout(0.1))
    m.add(layers.Dense(len(CLASSES), activation="softmax"))
    return m


def main():
    s = Settings()
    os.makedirs(s.out, exist_ok=True)
    keras.utils.set_random_seed(8)
    x_tr, y_tr = make(s.n_train, s, 0)
    x_va, y_va = make(s.n_val, s, 1)
    x_te, y_te = make(s.n_test, s, 2)
    scale = x_tr.std()
    x_tr, x_va, x_te = x_tr / scale, x_va / scale, x_te / scale

    model = build(s)
    model.compile(optimizer=keras.optimizers.AdamW(s.lr, weight_decay=1e-4),
                  loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    cbs = [
        callbacks.EarlyStopping(monitor="val_loss", mode="min", patience=s.patience, restore_best_weights=True),
        callbacks.CSVLogger(os.path.join(s.out, "bearing_log.csv")),
        callbacks.TerminateOnNaN(),
    ]
    model.fit(x_tr, y_tr, validation_data=(x_va, y_va), epochs=s.epochs, batch_size=s.batch,
              callbacks=cbs, verbose=0)

    with open(os.path.join(s.out, "bearing_log.csv")) as fh:
        for row in csv.DictReader(fh):
            print("epoch {:>2}  acc {:.3f}  val_acc {:.3f}  val_loss {:.3f}".format(
                int(row["epoch"]) + 1, float(row["accuracy"]), float(row["val_accuracy"]), float(row["val_loss"])))

    prob = model.predict(x_te, verbose=0)
    pred = prob.argmax(1)
    print("per class recall:", {c: round(float((pred[y_te == i] == i).mean()), 3) for i, c in enumerate(CLASSES)})
    print(f"test accuracy {np.mean(pred == y_te):.3f}  (majority {np.bincount(y_te).max() / len(y_te):.3f})")


if __name__ == "__main__":
    main()
