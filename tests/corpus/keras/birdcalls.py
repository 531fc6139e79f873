import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SEED = 3
RATE = 2000
SPECIES = ["wagtail", "chaffinch", "bunting", "siskin", "thrush", "wheatear"]
keras.utils.set_random_seed(SEED)


def synth_call(kind, rng):
    t = np.arange(RATE // 2) / RATE
    base = 180 + 90 * kind + rng.normal(0, 8)
    sweep = [0, 250, -150, 0, 200, -100][kind]
    phase = 2 * np.pi * (base * t + 0.5 * sweep * t ** 2)
    trill = 1 + 0.8 * np.sin(2 * np.pi * (4 + 3 * kind) * t)
    wave = trill * np.sin(phase + rng.uniform(0, 6.28))
    return (wave + rng.normal(0, 0.7, t.shape)).astype("float32")


def spectrogram(waves):
    stft = tf.signal.stft(waves, frame_length=128, frame_step=32)
    return tf.math.log(tf.abs(stft) + 1e-3)[..., tf.newaxis]


rng = np.random.default_rng(SEED)
labels = rng.integers(0, len(SPECIES), 900)
waves = np.stack([synth_call(k, rng) for k in labels])
specs = spectrogram(waves).numpy()
x_train, x_val, x_test = specs[:600], specs[600:750], specs[750:]
y_train, y_val, y_test = labels[:600], labels[600:750], labels[750:]

norm = layers.Normalization(axis=None)
norm.adapt(x_train)

model = keras.Sequential([
    keras.Input(shape=specs.shape[1:]),
    norm,
    layers.Conv2D(8, 3, activation="relu"),
    layers.MaxPooling2D(2),
    layers.Conv2D(16, 3, activation="relu"),
    layers.GlobalAveragePooling2D(),
    layers.Dense(32, activation="relu"),
    layers.Dropout(0.25),
    layers.Dense(len(SPECIES)),
])
model.summary()

model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
history = model.fit(
    x_train, y_train,
    validation_data=(x_val, y_val),
    epochs=15,
    batch_size=32,
    callbacks=[keras.callbacks.EarlyStopping(patience=8, restore_best_weights=True)],
    verbose=2,
)
print("test accuracy:", model.evaluate(x_test, y_test, verbose=0)[1])
