"""Forecast the next hour of a synthetic electricity load with micro-batches."""
import math

import keras
import numpy as np
import tensorflow as tf

WINDOW = 48
MICRO = 32
ACCUM = 4


def load_curve(n, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    daily = np.sin(2 * math.pi * t / 24) + 0.4 * np.sin(4 * math.pi * t / 24 + 0.7)
    weekly = 0.5 * np.sin(2 * math.pi * t / 168)
    noise = np.zeros(n)
    for i in range(1, n):
        noise[i] = 0.7 * noise[i - 1] + 0.1 * rng.normal()
    return (daily + weekly + noise).astype("float32")


def windows(series):
    idx = np.arange(len(series) - WINDOW)
    x = np.stack([series[i : i + WINDOW] for i in idx])
    return x, series[idx + WINDOW][:, None]


def micro_batches(x, y, seed):
    order = np.random.default_rng(seed).permutation(len(x))
    usable = len(order) - len(order) % (MICRO * ACCUM)
    for start in range(0, usable, MICRO):
        rows = order[start : start + MICRO]
        yield tf.constant(x[rows]), tf.constant(y[rows])


keras.utils.set_random_seed(2)
series = load_curve(3200, 0)
series = (series - series[:2500].mean()) / series[:2500].std()
x_train, y_train = windows(series[:2500])
x_test, y_test = windows(series[2500:])

model = keras.Sequential(
    [
        keras.Input(shape=(WINDOW,)),
        keras.layers.Dense(64, activation="tanh"),
        keras.layers.Dense(32, activation="tanh"),
        keras.layers.Dense(1),
    ]
)
optimizer = keras.optimizers.SGD(0.1)
buffers = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]


@tf.function
def collect(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    for buf, g in zip(buffers, tape.gradient(loss, model.trainable_variables)):
        buf.assign_add(g / ACCUM)
    return loss


@tf.function
def update():
    optimizer.apply_gradients([(tf.identity(b), v) for b, v in zip(buffers, model.trainable_variables)])


def reset():
    for buf in buffers:
        buf.assign(tf.zeros_like(buf))


reset()
for epoch in range(30):
    losses = []
    for i, (xb, yb) in enumerate(micro_batches(x_train, y_train, epoch)):
        losses.append(float(collect(xb, yb)))
        if (i + 1) % ACCUM == 0:
            update()
            reset()
    if epoch % 5 == 0:
        print(f"epoch {epoch:2d}  mse {np.mean(losses):.4f}")

forecast = model.predict(x_test, verbose=0)
mse = float(np.mean((forecast - y_test) ** 2))
naive = float(np.mean((x_test[:, -1:] - y_test) ** 2))
print(f"test mse {mse:.4f}   repeat-last-value mse {naive:.4f}   variance {float(np.var(y_test)):.4f}")
