"""Small keyword spotter: 6 spoken commands, log-spectrogram + 2D convnet.

The recordings are rendered on the fly (glides of two formants over a voiced
source) so the script is self-contained.
"""
import argparse

import numpy as np
import tensorflow as tf
import keras
from keras import layers

SR = 4000
DUR = 0.5
WORDS = ["yes", "no", "up", "down", "left", "right"]
# (f1 start, f1 end), (f2 start, f2 end) in Hz
FORMANTS = {
    "yes": ((350, 550), (1700, 1400)),
    "no": ((450, 350), (1000, 700)),
    "up": ((650, 600), (1200, 900)),
    "down": ((700, 400), (1300, 800)),
    "left": ((500, 450), (1500, 1650)),
    "right": ((650, 350), (1000, 1750)),
}


def render(word, rng):
    n = int(SR * DUR)
    t = np.arange(n) / SR
    length = rng.uniform(0.25, 0.4)
    onset = rng.uniform(0.02, DUR - length - 0.02)
    u = np.clip((t - onset) / length, 0, 1)
    env = np.where((t > onset) & (t < onset + length), np.sin(np.pi * u) ** 0.5, 0.0)
    speaker = rng.uniform(0.88, 1.14)
    sig = np.zeros(n)
    for (a, b), gain in zip(FORMANTS[word], (1.0, 0.7)):
        f = speaker * (a + (b - a) * u) + rng.normal(0, 15)
        sig += gain * np.sin(2 * np.pi * np.cumsum(f) / SR + rng.uniform(0, 6.28))
    pitch = rng.uniform(90, 210)
    sig *= 0.6 + 0.4 * np.sign(np.sin(2 * np.pi * pitch * t))
    sig = sig * env + rng.normal(0, rng.uniform(0.1, 0.4), n)
    return (rng.uniform(0.4, 1.0) * sig).astype("float32")


def make_split(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(WORDS), n)
    x = np.stack([render(WORDS[i], rng) for i in y])
    return x, y


def log_spectrogram(wav):
    s = tf.signal.stft(wav, frame_length=128, frame_step=64, fft_length=128)
    return tf.math.log(tf.abs(s) + 1e-3)[..., None]


def build_model(input_shape, train_specs):
    norm = layers.Normalization(axis=-1)
    norm.adapt(train_specs)
    return keras.Sequential([
        keras.Input(input_shape),
        norm,
        layers.Conv2D(16, 3, activation="relu", padding="same"),
        layers.MaxPooling2D(2),
        layers.Conv2D(32, 3, activation="relu", padding="same"),
        layers.MaxPooling2D(2),
        layers.Flatten(),
        layers.Dropout(0.3),
        layers.Dense(64, activation="relu"),
        layers.Dense(len(WORDS)),
    ])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--seed", type=int, default=7)
    args = p.parse_args()
    keras.utils.set_random_seed(args.seed)

    xtr, ytr = make_split(1500, seed=args.seed)
    xva, yva = make_split(300, seed=args.seed + 1)
    xte, yte = make_split(500, seed=args.seed + 2)
    strain, sval, stest = (log_spectrogram(a).numpy() for a in (xtr, xva, xte))
    print("spectrograms", strain.shape)

    model = build_model(strain.shape[1:], strain)
    model.compile(
        optimizer=keras.optimizers.Adam(args.lr),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(
        strain, ytr,
        validation_data=(sval, yva),
        batch_size=args.batch_size,
        epochs=args.epochs,
        verbose=2,
    )

    pred = model.predict(stest, verbose=0).argmax(-1)
    cm = np.zeros((len(WORDS), len(WORDS)), int)
    np.add.at(cm, (yte, pred), 1)
    print(cm)
    print(f"test accuracy {np.mean(pred == yte):.3f}  "
          f"(most frequent word {np.bincount(yte).max() / len(yte):.3f})")


if __name__ == "__main__":
    main()
