"""Recognises drumming patterns of woodpeckers from short spectrograms (tf_keras)."""
import numpy as np
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

SEED, RATE, BATCH, EPOCHS = 4, 2000, 32, 8
SPECIES = {"great": (12, 500), "black": (17, 300), "green": (9, 700), "lesser": (22, 600)}

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def drum(rate, pitch):
    t = np.arange(RATE) / RATE
    rate *= rng.uniform(0.92, 1.08)
    gate = (np.sin(2 * np.pi * rate * t + rng.uniform(0, 6)) > 0.6).astype(float)
    tone = np.sin(2 * np.pi * pitch * rng.uniform(0.8, 1.2) * t)
    return gate * tone + 0.3 * rng.normal(size=RATE)


def spectrogram(waves):
    s = tf.abs(tf.signal.stft(tf.constant(waves, tf.float32), frame_length=128, frame_step=32))
    s = tf.math.log(s + 1e-3)
    return ((s - tf.reduce_mean(s)) / tf.math.reduce_std(s))[..., None].numpy()


names = list(SPECIES)
y = rng.integers(0, len(names), 1200)
x = spectrogram(np.stack([drum(*SPECIES[names[k]]) for k in y]))
x_train, y_train, x_test, y_test = x[:1000], y[:1000], x[1000:], y[1000:]

model = keras.Sequential([
    layers.Input(x.shape[1:]),
    layers.Conv2D(12, 5, strides=2, activation="relu"),
    layers.Conv2D(24, 3, strides=2, activation="relu"),
    layers.GlobalAveragePooling2D(),
    layers.Dense(32, activation="relu"),
    layers.Dense(len(names)),
])
schedule = keras.optimizers.schedules.CosineDecay(5e-3, decay_steps=EPOCHS)
model.compile(
    optimizer=keras.optimizers.Adam(schedule),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, validation_data=(x_test, y_test), verbose=2)
print("test:", model.evaluate(x_test, y_test, verbose=0))
