"""Four bird calls. Raw clips in out/birds/clips, their labels in out/birds/notes; names differ
(take_0042.raw, 0042.txt), both lists are sorted and the numbers are zero-padded."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import shutil
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

BASE = Path("out/birds")
NAMES = ["wren", "owl", "finch", "crow"]
N = 2048


def call(rng, c):
    t = np.arange(N) / 4096
    lo = rng.uniform(0.9, 1.1)
    f = [900 + 500 * np.sin(2 * np.pi * 14 * t), 300 - 120 * t, 700 + 900 * t, 450 + 40 * np.sin(2 * np.pi * 60 * t)][c]
    gate = np.ones(N) if c != 3 else (np.sin(2 * np.pi * 7 * t + rng.uniform(0, 6)) > 0)
    wave = np.sin(2 * np.pi * np.cumsum(f * lo) / 4096) * gate
    shift = rng.integers(-600, 600)
    return np.roll(wave * (np.abs(t - 0.25) < 0.15), shift) + rng.normal(0, 1.5, N)


def record(n):
    shutil.rmtree(BASE, ignore_errors=True)
    for d in ("clips", "notes"):
        (BASE / d).mkdir(parents=True)
    rng = np.random.default_rng(30)
    for i in range(n):
        c = int(rng.integers(4))
        call(rng, c).astype("<f4").tofile(BASE / "clips" / f"take_{i:04d}.raw")
        (BASE / "notes" / f"{i:04d}.txt").write_text(NAMES[c])


def listing():
    clips, notes = sorted((BASE / "clips").glob("*.raw")), sorted((BASE / "notes").glob("*.txt"))
    assert [c.stem[5:] for c in clips] == [n.stem for n in notes]
    return [str(c) for c in clips], [NAMES.index(n.read_text()) for n in notes]


def read(path, label):
    return tf.reshape(tf.io.decode_raw(tf.io.read_file(path), tf.float32), (N,)), label


def jitter(x, label):
    x = tf.roll(x, tf.random.uniform((), -300, 300, tf.int32), 0) * tf.random.uniform((), 0.6, 1.5)
    return x + 0.3 * tf.random.normal((N,)), label


def spectrum(x, label):
    s = tf.abs(tf.signal.stft(x, 128, 64, fft_length=128))[:, :48]
    s = tf.math.log(s + 1.0)
    return ((s - tf.reduce_mean(s)) / tf.math.reduce_std(s))[..., None], label


def dataset(paths, labels, train):
    ds = tf.data.Dataset.from_tensor_slices((paths, labels)).map(read).cache()
    if train:        # after cache(): every epoch hears new shifts
        ds = ds.shuffle(len(paths), seed=1, reshuffle_each_iteration=True).map(jitter)
    return ds.map(spectrum).batch(32).prefetch(1)


def main():
    keras.utils.set_random_seed(30)
    record(1000)
    paths, labels = listing()
    perm = np.random.default_rng(0).permutation(len(paths))
    pick = lambda ix: ([paths[i] for i in ix], [labels[i] for i in ix])
    tr, va, te = perm[:650], perm[650:750], perm[750:]
    train, val, test = dataset(*pick(tr), True), dataset(*pick(va), False), dataset(*pick(te), False)
    model = keras.Sequential([
        keras.Input((31, 48, 1)),
        keras.layers.RandomTranslation(0.0, 0.05, fill_mode="constant"),     # active in fit only
        keras.layers.Conv2D(16, 5, strides=(1, 2), activation="relu", padding="same"),
        keras.layers.MaxPooling2D(2),
        keras.layers.Conv2D(32, 3, activation="relu", padding="same"),
        keras.layers.MaxPooling2D((2, 1)),
        keras.layers.Lambda(lambda t: keras.ops.max(t, axis=1)),             # when it sang is irrelevant
        keras.layers.Flatten(),
        keras.layers.Dropout(0.3),
        keras.layers.Dense(4, activation="softmax"),
    ])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.optimizer.learning_rate = 3e-3
    model.fit(train, validation_data=val, epochs=12, verbose=2,
              callbacks=[keras.callbacks.ReduceLROnPlateau(patience=2, factor=0.4)])
    want = np.array([labels[i] for i in te])
    got = model.predict(test, verbose=0).argmax(1)
    print(f"test accuracy {np.mean(got == want):.3f}, majority {np.bincount(want).max() / len(want):.3f}")
    for k, n in enumerate(NAMES):
        print(f"  {n:6s} recall {np.mean(got[want == k] == k):.2f} of {np.sum(want == k)}")


main()
