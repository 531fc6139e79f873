# Keyword-like audio classification: eight "calls" made of frequency sweeps.
# Log spectrogram -> 2D CNN.
import argparse
import numpy as np
import tensorflow as tf
import keras
from keras import layers

CLASSES = ["up", "down", "vee", "hat", "flat_low", "flat_high", "trill", "pulse"]
SR = 4000
N = 2048


def synth(kind, rng):
    t = np.arange(N) / SR
    T = N / SR
    lo, hi = rng.uniform(350, 600), rng.uniform(1100, 1600)
    u = t / T
    if kind == "up":
        f = lo + (hi - lo) * u
    elif kind == "down":
        f = hi - (hi - lo) * u
    elif kind == "vee":
        f = hi - (hi - lo) * (1 - np.abs(2 * u - 1))
    elif kind == "hat":
        f = lo + (hi - lo) * (1 - np.abs(2 * u - 1))
    elif kind == "flat_low":
        f = np.full_like(u, lo)
    elif kind == "flat_high":
        f = np.full_like(u, hi)
    elif kind == "trill":
        f = 900 + 250 * np.sin(2 * np.pi * rng.uniform(7, 10) * t)
    else:
        f = np.full_like(u, 0.5 * (lo + hi))
    ph = 2 * np.pi * np.cumsum(f) / SR
    s = np.sin(ph + rng.uniform(0, 6))
    if kind == "pulse":
        s = s * (np.sin(2 * np.pi * rng.uniform(6, 10) * t) > 0)
    s = s * rng.uniform(0.3, 1.0)
    return s + rng.normal(0, 0.9, N)


def spectrogram(wave):
    st = tf.signal.stft(wave, frame_length=128, frame_step=64)
    return tf.math.log(tf.abs(st) + 1e-2)[..., None]


def make_split(n, rng):
    y = rng.integers(0, len(CLASSES), n)
    w = np.stack([synth(CLASSES[k], rng) for k in y]).astype("float32")
    return spectrogram(w).numpy(), y


def build(shape, norm):
    model = keras.Sequential([
        keras.Input(shape),
        norm,
        layers.Conv2D(16, 5, strides=2, activation="relu", padding="same"),
        layers.Conv2D(32, 3, strides=2, activation="relu", padding="same"),
        layers.Conv2D(32, 3, strides=2, activation="relu", padding="same"),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dense(len(CLASSES)),
    ])
    return model


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=10)
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--seed", type=int, default=3)
    args = ap.parse_args()

    keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    x_tr, y_tr = make_split(1600, rng)
    x_va, y_va = make_split(300, rng)
    x_te, y_te = make_split(500, rng)

    norm = layers.Normalization(axis=-1)
    norm.adapt(x_tr)
    model = build(x_tr.shape[1:], norm)
    model.summary()
    model.compile(
        optimizer=keras.optimizers.Adam(args.lr),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    model.fit(x_tr, y_tr, validation_data=(x_va, y_va),
              epochs=args.epochs, batch_size=args.batch, verbose=2)
    loss, acc = model.evaluate(x_te, y_te, verbose=0)
    print("chance %.3f" % np.mean(y_te == np.bincount(y_tr).argmax()))
    print(f"test loss {loss:.3f}  test accuracy {acc:.3f}")
