"""Spoken keyword recognition on log-mel-like frames (synthetic)."""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import keras
from keras import layers

KEYWORDS = ["yes", "no", "up", "down", "left", "right", "stop", "go"]


def synth(n, frames, mels, rng):
    """Every keyword is a track of two formants that move in its own way."""
    proto = np.random.default_rng(77)
    start = proto.uniform(4, mels - 4, size=(len(KEYWORDS), 2))
    slope = proto.uniform(-0.35, 0.35, size=(len(KEYWORDS), 2))
    labels = rng.integers(0, len(KEYWORDS), size=n)
    t = np.arange(frames)[None, :, None]
    m = np.arange(mels)[None, None, :]
    x = np.zeros((n, frames, mels), np.float32)
    for k in range(2):
        jitter = rng.normal(0, 1.2, size=n)
        centre = (start[labels, k] + jitter)[:, None, None] + slope[labels, k][:, None, None] * t
        x += np.exp(-0.5 * ((m - centre) / 1.5) ** 2)
    x += rng.normal(0, 0.35, size=x.shape)
    return x.astype(np.float32), labels


def build(frames, mels):
    inp = keras.Input((frames, mels))
    h = layers.Conv1D(48, 5, padding="same", activation="relu")(inp)
    h = layers.MaxPooling1D(2)(h)
    h = layers.Conv1D(64, 5, padding="same", activation="relu")(h)
    h = layers.GlobalAveragePooling1D()(h)
    h = layers.Dense(64, activation="relu")(h)
    h = layers.Dropout(0.2)(h)
    out = layers.Dense(len(KEYWORDS))(h)
    return keras.Model(inp, out)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--frames", type=int, default=32)
    p.add_argument("--mels", type=int, default=32)
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--lr", type=float, default=1e-3)
    args = p.parse_args()

    keras.utils.set_random_seed(3)
    rng = np.random.default_rng(3)
    x, y = synth(3200, args.frames, args.mels, rng)
    xv, yv = synth(800, args.frames, args.mels, rng)
    mean, std = x.mean(), x.std()
    x, xv = (x - mean) / std, (xv - mean) / std

    model = build(args.frames, args.mels)
    model.compile(
        optimizer=keras.optimizers.Adam(args.lr),
        loss=keras.losses.SparseCategoricalCrossentropy(),
        metrics=["accuracy"],
    )
    model.fit(x, y, validation_data=(xv, yv), epochs=args.epochs, batch_size=args.batch_size, verbose=2)
    loss, acc = model.evaluate(xv, yv, verbose=0)
    print(f"validation loss {loss:.4f}  accuracy {acc:.4f}")


if __name__ == "__main__":
    main()
