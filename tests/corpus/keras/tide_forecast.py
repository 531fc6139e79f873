"""Six-hour-ahead tide gauge forecast with a hand-driven warmup + cosine rate."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import math
import resource
import time

import keras
import numpy as np
import tensorflow as tf

WINDOW, HORIZON = 48, 6
EPOCHS, BATCH = 5, 128
BASE_LR, WARMUP = 4e-3, 20


def gauge(hours, seed=0):
    r = np.random.default_rng(seed)
    t = np.arange(hours)
    tide = 1.6 * np.sin(2 * np.pi * t / 12.42) + 0.5 * np.sin(2 * np.pi * t / 12.0 + 1) + 0.3 * np.sin(2 * np.pi * t / 25.82)
    surge = np.zeros(hours)
    for i in range(1, hours):
        surge[i] = 0.97 * surge[i - 1] + r.normal(0, 0.06)
    return (tide + surge + r.normal(0, 0.03, hours)).astype("float32")


def windows(series):
    idx = np.arange(len(series) - WINDOW - HORIZON)
    x = np.stack([series[i : i + WINDOW] for i in idx])[..., None]
    y = np.stack([series[i + WINDOW : i + WINDOW + HORIZON] for i in idx])
    return x, y


def rate(step, total):
    if step < WARMUP:
        return BASE_LR * (step + 1) / WARMUP
    p = (step - WARMUP) / max(1, total - WARMUP)
    return 0.5 * BASE_LR * (1 + math.cos(math.pi * p))


class Forecaster(keras.Model):
    def __init__(self):
        super().__init__()
        self.conv = keras.layers.Conv1D(24, 5, strides=2, padding="causal", activation="relu")
        self.conv2 = keras.layers.Conv1D(24, 5, strides=2, padding="causal", activation="relu")
        self.flat = keras.layers.Flatten()
        self.hidden = keras.layers.Dense(48, activation="relu")
        self.out = keras.layers.Dense(HORIZON)

    def call(self, x):
        return self.out(self.hidden(self.flat(self.conv2(self.conv(x)))))


keras.utils.set_random_seed(2)
series = gauge(3600)
x, y = windows(series)
cut = int(len(x) * 0.8)
xtr, ytr, xva, yva = x[:cut], y[:cut], x[cut + WINDOW :], y[cut + WINDOW :]

model = Forecaster()
model(xtr[:1])
params = model.trainable_variables
m1 = [tf.Variable(tf.zeros_like(p)) for p in params]
m2 = [tf.Variable(tf.zeros_like(p)) for p in params]


@tf.function
def train_step(xb, yb, lr):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(keras.losses.huber(yb, model(xb, training=True)))
    grads = tape.gradient(loss, params)
    for p, g, a, b in zip(params, grads, m1, m2):
        a.assign(0.9 * a + 0.1 * g)
        b.assign(0.99 * b + 0.01 * tf.square(g))
        p.assign_sub(lr * a / (tf.sqrt(b) + 1e-7))
    return loss


steps = len(xtr) // BATCH
total = steps * EPOCHS
rng = np.random.default_rng(1)
k = 0
start = time.time()
for epoch in range(EPOCHS):
    order = rng.permutation(len(xtr))
    t0, seen = time.time(), []
    for s in range(steps):
        j = order[s * BATCH : (s + 1) * BATCH]
        lr = rate(k, total)
        seen.append(train_step(tf.constant(xtr[j]), tf.constant(ytr[j]), lr))
        k += 1
    mae = np.abs(model(xva, training=False).numpy() - yva).mean()
    print(f"epoch {epoch} loss {np.mean(seen):.4f} val MAE {mae:.3f} m  {time.time() - t0:.1f}s")

naive = np.abs(xva[:, -1:, 0] - yva).mean()
mem = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"persistence MAE {naive:.3f} m; {total} steps in {time.time() - start:.1f}s; peak memory {mem:.0f} MB")
