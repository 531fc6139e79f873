"""Noisy student for chord-type recognition: 60 labelled spectra, 2500 without labels.

The teacher labels clean inputs in inference mode; the student learns from noised inputs with dropout.
"""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(31)
BINS, KINDS = 72, {"major": (0, 4, 7), "minor": (0, 3, 7), "dim": (0, 3, 6), "aug": (0, 4, 8), "sus": (0, 5, 7)}


def spectra(n, rng):
    """Log-frequency spectra, 12 bins per octave, with a random root, overtones and room noise."""
    y = rng.integers(0, len(KINDS), n)
    x = np.zeros((n, BINS), np.float32)
    for i, k in enumerate(y):
        root = rng.integers(0, 8)
        for step in list(KINDS.values())[k]:
            for over, level in ((0, 1.0), (12, 0.5), (19, 0.3), (24, 0.2)):
                x[i, root + step + 12 + over] += level * rng.uniform(0.45, 1.2)
    x += np.abs(0.25 * rng.standard_normal(x.shape))
    return np.log1p(4 * x).astype(np.float32), y


def build(width, drop):
    inp = keras.Input((BINS,))
    h = layers.Reshape((BINS, 1))(inp)
    h = layers.Conv1D(width, 13, activation="relu")(h)
    h = layers.Conv1D(width, 5, activation="relu")(h)
    h = layers.GlobalMaxPooling1D()(h)
    h = layers.Dropout(drop)(h)
    return keras.Model(inp, layers.Dense(len(KINDS))(h))


def perturb(x):
    gain = tf.random.uniform((tf.shape(x)[0], 1), 0.85, 1.15)
    keep = tf.cast(tf.random.uniform(tf.shape(x)) > 0.05, tf.float32)
    return x * gain * keep + 0.05 * tf.random.normal(tf.shape(x))


def train(model, x, targets, epochs, lr, noise):
    """targets are probabilities (one-hot or soft)."""
    opt = keras.optimizers.Adam(lr)
    ds = tf.data.Dataset.from_tensor_slices((x, targets)).shuffle(len(x)).batch(40)

    @tf.function
    def step(xb, tb):
        with tf.GradientTape() as tape:
            logits = model(perturb(xb) if noise else xb, training=True)
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(tb, logits))
        g = tape.gradient(loss, model.trainable_weights)
        opt.apply(g, model.trainable_weights)
        return loss

    for _ in range(epochs):
        last = np.mean([step(xb, tb).numpy() for xb, tb in ds])
    return last


def accuracy(model, x, y):
    return float(np.mean(model.predict(x, verbose=0, batch_size=500).argmax(1) == y))


rng = np.random.default_rng(31)
x_lab, y_lab = spectra(60, rng)
x_un, _ = spectra(2500, rng)
x_test, y_test = spectra(1000, rng)
onehot = np.eye(len(KINDS), dtype=np.float32)[y_lab]

teacher = build(24, 0.2)
train(teacher, x_lab, onehot, epochs=80, lr=3e-3, noise=False)
first = accuracy(teacher, x_test, y_test)
print(f"teacher on {len(x_lab)} labels: test {first:.3f}")

for generation in range(2):
    soft = tf.nn.softmax(teacher(x_un, training=False)).numpy()
    sure = soft.max(1) > 0.5
    student = build(32 + 8 * generation, 0.4)
    # labelled rows are repeated so they make up a fair share of each epoch
    xs = np.concatenate([x_un[sure]] + [x_lab] * 5)
    ts = np.concatenate([soft[sure]] + [onehot] * 5)
    loss = train(student, xs, ts, epochs=12, lr=3e-3, noise=True)
    print(f"student {generation + 1}: kept {sure.mean():.2f} loss {loss:.3f} test {accuracy(student, x_test, y_test):.3f}")
    teacher = student

print(f"final test accuracy {accuracy(teacher, x_test, y_test):.3f} vs first teacher {first:.3f}, "
      f"majority {np.bincount(y_test).max() / len(y_test):.3f}")
