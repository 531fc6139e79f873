"""Appliance energy regression; several micro batches per optimizer step."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
import keras
from keras import layers

MICRO = 16
ACCUM = 4
EPOCHS = 25

keras.utils.set_random_seed(4)


def household(n=2400, seed=4):
    rng = np.random.default_rng(seed)
    hour = rng.uniform(0, 24, n)
    temp = rng.normal(12, 7, n)
    people = rng.integers(1, 6, n)
    area = rng.uniform(40, 200, n)
    heat = np.maximum(18 - temp, 0) * area / 400
    evening = 2.0 * people * np.exp(-((hour - 19) ** 2) / 8)
    kwh = 1.5 + heat + evening + rng.normal(0, 0.4, n)
    feats = np.stack(
        [np.sin(hour / 24 * 2 * np.pi), np.cos(hour / 24 * 2 * np.pi), temp, people, area], 1
    )
    return feats.astype("float32"), kwh.astype("float32")[:, None]


class GradientAccumulator:
    def __init__(self, variables):
        self.slots = [tf.Variable(tf.zeros_like(v), trainable=False) for v in variables]

    def add(self, grads, scale):
        for slot, g in zip(self.slots, grads):
            slot.assign_add(g * scale)

    def clear(self):
        for slot in self.slots:
            slot.assign(tf.zeros_like(slot))


net = keras.Sequential(
    [
        keras.Input((5,)),
        layers.Dense(48, activation="tanh"),
        layers.Dense(48, activation="tanh"),
        layers.Dense(1),
    ]
)
optimizer = keras.optimizers.SGD(0.05, momentum=0.9)
mse = keras.losses.MeanSquaredError()
bank = GradientAccumulator(net.trainable_variables)


@tf.function
def micro_step(xb, yb):
    with tf.GradientTape() as tape:
        loss = mse(yb, net(xb, training=True))
    bank.add(tape.gradient(loss, net.trainable_variables), 1.0 / ACCUM)
    return loss


@tf.function
def flush():
    optimizer.apply_gradients(zip(bank.slots, net.trainable_variables))
    bank.clear()


x, y = household()
x_tr, x_te, y_tr, y_te = x[:1900], x[1900:], y[:1900], y[1900:]
mean, std = x_tr.mean(0), x_tr.std(0)
x_tr, x_te = (x_tr - mean) / std, (x_te - mean) / std
y_mean, y_std = y_tr.mean(), y_tr.std()

stream = tf.data.Dataset.from_tensor_slices((x_tr, (y_tr - y_mean) / y_std))
stream = stream.shuffle(2000, seed=1).batch(MICRO, drop_remainder=True)

for epoch in range(EPOCHS):
    running = []
    for i, (xb, yb) in enumerate(stream):
        running.append(float(micro_step(xb, yb)))
        if (i + 1) % ACCUM == 0:
            flush()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}: train mse {np.mean(running):.4f}")

pred = net.predict(x_te, verbose=0) * y_std + y_mean
rmse = float(np.sqrt(np.mean((pred - y_te) ** 2)))
base = float(np.sqrt(np.mean((y_te - y_mean) ** 2)))
print(f"test rmse {rmse:.3f} kWh   predicting the mean {base:.3f} kWh")
