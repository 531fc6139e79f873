import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import argparse

import numpy as np
import tensorflow as tf
from sklearn.metrics import classification_report, confusion_matrix, f1_score
from tensorflow import keras

GESTURES = ["circle", "swipe", "shake", "tap", "wave"]


def record(kind, rng, steps=48):
    t = np.linspace(0, 1, steps)
    ph = rng.uniform(0, 2 * np.pi)
    amp = rng.uniform(0.7, 1.3)
    if kind == 0:
        s = np.stack([np.cos(8 * t + ph), np.sin(8 * t + ph), 0.1 * t])
    elif kind == 1:
        c = rng.uniform(0.3, 0.7)
        s = np.stack([np.exp(-((t - c) ** 2) / 0.02), 0.2 * t, -0.3 * np.exp(-((t - c) ** 2) / 0.02)])
    elif kind == 2:
        s = np.stack([np.sin(45 * t + ph), 0.6 * np.sin(45 * t + ph + 0.5), 0.4 * np.cos(45 * t)])
    elif kind == 3:
        c = rng.uniform(0.2, 0.8)
        s = np.stack([0 * t, 0 * t, 1.8 * (np.abs(t - c) < 0.04)])
    else:
        s = np.stack([np.sin(14 * t + ph), 0.1 * t, 0.3 * np.cos(14 * t + ph)])
    return (amp * s + rng.normal(0, 0.25, s.shape)).T


def build_corpus(n, seed):
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, len(GESTURES), n)
    return np.stack([record(k, rng) for k in kinds]).astype("float32"), kinds.astype("int64")


def jitter(signal, label):
    gain = tf.random.uniform([], 0.9, 1.1)
    return signal * gain + tf.random.normal(tf.shape(signal), stddev=0.05), label


def pipeline(x, y, batch, augment=False):
    ds = tf.data.Dataset.from_tensor_slices((x, y)).cache()
    ds = ds.shuffle(2048) if augment else ds
    if augment:
        ds = ds.map(jitter, num_parallel_calls=1)
    return ds.batch(batch).prefetch(1)


def network(width):
    return keras.Sequential(
        [
            keras.Input((48, 3)),
            keras.layers.Conv1D(width, 5, activation="relu"),
            keras.layers.MaxPooling1D(2),
            keras.layers.Conv1D(width * 2, 5, activation="relu"),
            keras.layers.GlobalMaxPooling1D(),
            keras.layers.Dense(len(GESTURES)),
        ]
    )


def report(model, ds):
    truth = np.concatenate([label.numpy() for _, label in ds])
    guess = model.predict(ds, verbose=0).argmax(axis=-1)
    print(confusion_matrix(truth, guess))
    print(classification_report(truth, guess, target_names=GESTURES, digits=3))
    return f1_score(truth, guess, average="macro")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--width", type=int, default=16)
    args = ap.parse_args()
    keras.utils.set_random_seed(0)

    train_ds = pipeline(*build_corpus(1500, 1), args.batch, augment=True)
    test_ds = pipeline(*build_corpus(500, 2), args.batch)

    model = network(args.width)
    model.compile(
        keras.optimizers.Adam(3e-3),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    model.fit(train_ds, epochs=args.epochs, verbose=2)
    print("final test loss", round(model.evaluate(test_ds, verbose=0), 4))
    print(f"macro F1 on the test recordings: {report(model, test_ds):.3f}")


if __name__ == "__main__":
    main()
