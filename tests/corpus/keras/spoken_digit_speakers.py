"""Spoken-digit recogniser for a closed group of 30 enrolled speakers (formant-like synthetic spectrograms).

Every speaker says every digit several times; the product only serves enrolled voices, hence the row split.
A binary bottleneck (sign with straight-through gradient) makes the codes small enough for the device.
"""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.model_selection import train_test_split

FRAMES, BANDS, SPEAKERS, TAKES = 20, 24, 30, 8
rng = np.random.default_rng(14)
keras.utils.set_random_seed(14)

# two formant tracks (start, end) for each digit
TRACKS = rng.uniform(3, 20, size=(10, 2, 2))


def utterance(digit, pitch, rate, level):
    t = np.clip(np.linspace(0, 1, FRAMES) * rate + rng.normal(0, 0.05), 0, 1)
    bands = np.arange(BANDS)
    spec = np.zeros((FRAMES, BANDS))
    for start, end in TRACKS[digit]:
        track = (start + (end - start) * t) * pitch + rng.normal(0, 0.5)
        spec += np.exp(-0.5 * ((bands[None] - track[:, None]) / 1.3) ** 2)
    return level * spec + 0.35 * np.abs(rng.standard_normal(spec.shape))


x, digit, speaker = [], [], []
for s in range(SPEAKERS):
    pitch, rate, level = rng.uniform(0.85, 1.15), rng.uniform(0.8, 1.2), rng.uniform(0.7, 1.3)
    for d in range(10):
        for _ in range(TAKES):
            x.append(utterance(d, pitch, rate, level))
            digit.append(d)
            speaker.append(s)
x, digit, speaker = np.asarray(x, np.float32), np.asarray(digit), np.asarray(speaker)

train, test = train_test_split(np.arange(len(x)), test_size=0.25, random_state=14, stratify=digit)
mean, std = x[train].mean((0, 1)), x[train].std((0, 1))
x = (x - mean) / std
print(f"{len(train)} train rows, {len(test)} test rows, {len(set(speaker[test]))} speakers in test")


@tf.custom_gradient
def hard_sign(v):
    out = tf.where(v >= 0, tf.ones_like(v), -tf.ones_like(v))

    def grad(up):
        return up * tf.cast(tf.abs(v) <= 1.5, up.dtype)

    return out, grad


class BinaryCode(layers.Layer):
    def call(self, v):
        return hard_sign(v)

    def compute_output_shape(self, shape):
        return shape


inp = keras.Input((FRAMES, BANDS))
h = layers.Conv1D(32, 5, activation="relu", padding="same")(inp)
h = layers.AveragePooling1D(2)(h)
h = layers.Conv1D(32, 5, activation="relu", padding="same")(h)
h = layers.Flatten()(h)
h = layers.Dense(48, name="precode")(h)
h = layers.BatchNormalization()(h)
code = BinaryCode(name="code")(h)
model = keras.Model(inp, layers.Dense(10, activation="softmax")(code))
model.compile(optimizer=keras.optimizers.AdamW(2e-3, weight_decay=1e-3),
              loss="sparse_categorical_crossentropy", metrics=["accuracy"])
hist = model.fit(x[train], digit[train], epochs=14, batch_size=48, shuffle=True, verbose=0)
for e in range(1, 14, 4):
    print(f"epoch {e + 1:2d} loss {hist.history['loss'][e]:.4f} acc {hist.history['accuracy'][e]:.4f}")

prob = model.predict(x[test], verbose=0, batch_size=300)
right = prob.argmax(1) == digit[test]
worst = min((right[speaker[test] == s].mean(), s) for s in range(SPEAKERS))
bits = keras.Model(inp, code).predict(x[test], verbose=0, batch_size=300)
print(f"test accuracy {right.mean():.4f} (chance 0.10), hardest speaker {worst[1]} at {worst[0]:.3f}, "
      f"bit balance {np.mean(bits > 0):.2f}")
