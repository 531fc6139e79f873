"""Gesture recognition from a wrist band.

The logger stores every recording as channels x samples (that is how the
firmware dumps its ring buffers); the network wants samples x channels.
"""
import argparse
import json
import os

import keras
import numpy as np
from keras import layers

CHANNELS = 6
SAMPLES = 60
GESTURES = ("circle_left", "circle_right", "swipe", "shake", "tap")


def record(rng, kind):
    t = np.arange(SAMPLES) / SAMPLES
    f = rng.uniform(2.0, 4.0)
    p = rng.uniform(0, 2 * np.pi)
    amp = rng.uniform(0.7, 1.3)
    s = np.zeros((CHANNELS, SAMPLES))
    wave = lambda lag, k=1.0: amp * np.sin(2 * np.pi * f * k * t + p + lag)
    if kind in (0, 1):
        lag = np.pi / 2 if kind == 0 else -np.pi / 2
        s[0], s[1] = wave(0), wave(lag)
        s[3], s[4] = wave(np.pi), wave(np.pi + lag)
    elif kind == 2:
        s[0], s[1], s[5] = wave(0), wave(0), wave(0)
    elif kind == 3:
        s[0], s[1], s[2] = wave(0), wave(np.pi), wave(np.pi)
    else:
        s[2], s[5] = wave(0), wave(np.pi)
        s[0], s[1] = wave(0, 0.5), wave(np.pi, 0.5)
    return s + rng.normal(0, 1.1, s.shape)


def dataset(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(GESTURES), n)
    x = np.stack([record(rng, k) for k in y]).astype("float32")
    return x, y.astype("int32")


def build(width, dropout):
    inp = keras.Input((CHANNELS, SAMPLES), name="raw")
    x = layers.Permute((2, 1))(inp)
    x = layers.Conv1D(width, 7, padding="same", activation="relu")(x)
    x = layers.MaxPooling1D(2)(x)
    x = layers.Conv1D(2 * width, 5, padding="same", activation="relu")(x)
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.Dropout(dropout)(x)
    out = layers.Dense(len(GESTURES), activation="softmax")(x)
    return keras.Model(inp, out, name="band")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--width", type=int, default=16)
    ap.add_argument("--dropout", type=float, default=0.1)
    ap.add_argument("--epochs", type=int, default=20)
    ap.add_argument("--lr", type=float, default=3e-3)
    ap.add_argument("--out", default="out")
    args = ap.parse_args()
    os.makedirs(args.out, exist_ok=True)
    keras.utils.set_random_seed(8)

    x_tr, y_tr = dataset(1200, 1)
    x_va, y_va = dataset(250, 2)
    x_te, y_te = dataset(500, 3)
    mean = x_tr.mean(axis=(0, 2), keepdims=True)
    std = x_tr.std(axis=(0, 2), keepdims=True)
    x_tr, x_va, x_te = [(v - mean) / std for v in (x_tr, x_va, x_te)]

    model = build(args.width, args.dropout)
    model.compile(
        optimizer=keras.optimizers.Adam(args.lr),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    print("parameters:", model.count_params())
    plateau = keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=3)
    log = model.fit(
        x_tr, y_tr, validation_data=(x_va, y_va), batch_size=32,
        epochs=args.epochs, callbacks=[plateau], verbose=0,
    ).history
    for e in range(0, args.epochs, 3):
        print(f"epoch {e:2d}  loss {log['loss'][e]:.3f}  acc {log['accuracy'][e]:.3f}  "
              f"val_acc {log['val_accuracy'][e]:.3f}")

    pred = model.predict(x_te, verbose=0).argmax(1)
    acc = float((pred == y_te).mean())
    per_class = {g: round(float((pred[y_te == i] == i).mean()), 3) for i, g in enumerate(GESTURES)}
    print("recall per gesture:", per_class)
    print(f"test accuracy {acc:.3f} (chance {1 / len(GESTURES):.2f})")
    with open(os.path.join(args.out, "band.json"), "w") as fh:
        json.dump({"accuracy": acc, "recall": per_class}, fh)


if __name__ == "__main__":
    main()
