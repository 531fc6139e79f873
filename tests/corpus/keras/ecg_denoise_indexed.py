"""Denoise single-lead ECG-like beats. Both the clean beats and their noise are functions of an index,
so the training set can be cached after the (deterministic) map and is the same on each machine."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

N_TRAIN, N_VAL, N_TEST, LEN = 4000, 400, 800, 128
keras.utils.set_random_seed(2)

# (centre, width, height) of P, Q, R, S, T
WAVES = tf.constant([[0.25, 0.03, 0.15], [0.42, 0.010, -0.12], [0.45, 0.013, 1.0],
                     [0.48, 0.011, -0.25], [0.70, 0.05, 0.30]])


def clean_beat(i):
    """Beat number i: wave positions, widths and heights drawn from a stateless generator."""
    seed = tf.stack([tf.cast(i, tf.int32), 101])
    r = tf.random.stateless_normal((5, 3), seed=seed)
    centre = WAVES[:, 0] + 0.02 * r[:, 0] + 0.04 * r[0, 1]
    width = WAVES[:, 1] * tf.exp(0.15 * r[:, 1])
    height = WAVES[:, 2] * tf.exp(0.20 * r[:, 2])
    t = tf.linspace(0.0, 1.0, LEN)[:, None]
    return tf.reduce_sum(height * tf.exp(-0.5 * ((t - centre) / width) ** 2), axis=1)


def sample(i):
    """(noisy, clean) for index i: muscle noise, baseline wander and mains hum."""
    clean = clean_beat(i)
    i32 = tf.cast(i, tf.int32)
    white = tf.random.stateless_normal((LEN,), seed=tf.stack([i32, 202]))
    u = tf.random.stateless_uniform((4,), seed=tf.stack([i32, 303]))
    t = tf.linspace(0.0, 1.0, LEN)
    wander = 0.3 * u[0] * tf.sin(2 * np.pi * (0.5 * t + u[1]))
    hum = 0.15 * u[2] * tf.sin(2 * np.pi * (25.0 * t + u[3]))
    noisy = clean + 0.12 * white + wander + hum
    return noisy[:, None], clean[:, None]


def dataset(start, count, training):
    ds = tf.data.Dataset.range(start, start + count).map(sample, num_parallel_calls=2).cache()
    if training:
        ds = ds.shuffle(count)
    return ds.batch(64).prefetch(1)


train = dataset(0, N_TRAIN, True)
val = dataset(N_TRAIN, N_VAL, False)
test = dataset(N_TRAIN + N_VAL, N_TEST, False)


def conv(x, ch, dilation):
    return layers.Conv1D(ch, 7, padding="same", dilation_rate=dilation, activation="relu")(x)


inp = keras.Input((LEN, 1))
h = conv(inp, 16, 1)
for d in (2, 4, 8):
    h = layers.add([h, conv(h, 16, d)])
noise = layers.Conv1D(1, 5, padding="same", kernel_initializer="zeros", name="noise")(h)
model = keras.Model(inp, layers.subtract([inp, noise]))  # residual: the network predicts the noise
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")


def lr(epoch, current):
    return current if epoch < 6 else current * 0.7


hist = model.fit(train, validation_data=val, epochs=10, verbose=0,
                 callbacks=[keras.callbacks.LearningRateScheduler(lr)])
for e in (0, 4, 9):
    print(f"epoch {e + 1:2d} loss {hist.history['loss'][e]:.5f} val {hist.history['val_loss'][e]:.5f}")


def snr(clean, est):
    return float(np.mean(10 * np.log10((clean ** 2).sum((1, 2)) / ((clean - est) ** 2).sum((1, 2)))))


noisy = np.concatenate([a.numpy() for a, _ in test])
clean = np.concatenate([b.numpy() for _, b in test])
kernel = np.ones(5) / 5
smooth = np.stack([np.convolve(r[:, 0], kernel, mode="same") for r in noisy])[..., None]
out = model.predict(noisy, batch_size=200, verbose=0)
print(f"test SNR dB: input {snr(clean, noisy):.2f}, moving average {snr(clean, smooth):.2f}, network {snr(clean, out):.2f}")
