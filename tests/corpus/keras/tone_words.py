"""Small-vocabulary spoken command recogniser on short 4 kHz clips."""
import argparse
import os

import numpy as np
import tensorflow as tf
import keras
from keras import layers

SR = 4000
N = 1600
WORDS = {
    "left": [(400, 700), (700, 500)],
    "right": [(700, 400), (400, 800)],
    "up": [(300, 1200), (1200, 1200)],
    "down": [(1200, 300), (300, 300)],
    "go": [(500, 500), (900, 900)],
    "stop": [(900, 900), (500, 500)],
}


def say(word, rng):
    speaker = rng.uniform(0.85, 1.15)
    out = np.zeros(N, np.float32)
    pos = rng.integers(0, 250)
    for f0, f1 in WORDS[word]:
        n = rng.integers(450, 650)
        f = np.linspace(f0, f1, n) * speaker
        phase = 2 * np.pi * np.cumsum(f) / SR + rng.uniform(0, 6.28)
        seg = np.sin(phase) * np.hanning(n) + 0.3 * np.sin(2 * phase) * np.hanning(n)
        out[pos:pos + n] += seg[: max(0, N - pos)]
        pos += n + rng.integers(0, 40)
    return out * rng.uniform(0.4, 1.0) + rng.normal(0, 0.25, N)


def load_clips(per_word, seed):
    rng = np.random.default_rng(seed)
    clips, labels = [], []
    for idx, word in enumerate(WORDS):
        for _ in range(per_word):
            clips.append(say(word, rng))
            labels.append(idx)
    return np.asarray(clips, np.float32), np.asarray(labels)


def log_spec(clips):
    s = tf.abs(tf.signal.stft(clips, frame_length=128, frame_step=64))
    s = tf.math.log(s + 1e-2)
    return s.numpy()[..., None]


def make_model(shape, norm):
    return keras.Sequential([
        keras.Input(shape),
        norm,
        layers.Conv2D(16, 3, activation="relu", padding="same"),
        layers.MaxPooling2D(2),
        layers.Conv2D(32, 3, activation="relu", padding="same"),
        layers.MaxPooling2D(2),
        layers.Flatten(),
        layers.Dropout(0.3),
        layers.Dense(48, activation="relu"),
        layers.Dense(len(WORDS), activation="softmax"),
    ])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--per-word", type=int, default=120)
    p.add_argument("--seed", type=int, default=7)
    args = p.parse_args()
    keras.utils.set_random_seed(args.seed)
    os.makedirs("out", exist_ok=True)

    clips, y = load_clips(args.per_word, args.seed)
    x = log_spec(clips)

    norm = layers.Normalization(axis=None)
    norm.adapt(x)
    model = make_model(x.shape[1:], norm)
    model.compile(keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(
        x, y,
        batch_size=32,
        epochs=args.epochs,
        validation_split=0.2,
        callbacks=[
            keras.callbacks.ReduceLROnPlateau(patience=3),
            keras.callbacks.CSVLogger("out/tone_words.csv"),
        ],
        verbose=2,
    )

    test_clips, test_y = load_clips(50, args.seed + 1)
    loss, acc = model.evaluate(log_spec(test_clips), test_y, verbose=0)
    print(f"test loss {loss:.3f}  test accuracy {acc:.3f}  (chance {1 / len(WORDS):.3f})")
    pred = model.predict(log_spec(test_clips), verbose=0).argmax(1)
    for i, w in enumerate(WORDS):
        print(f"  {w:6s} recall {np.mean(pred[test_y == i] == i):.2f}")


if __name__ == "__main__":
    main()
