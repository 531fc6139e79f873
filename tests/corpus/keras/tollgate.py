import logging

import numpy as np
import tensorflow as tf
import keras
from keras import layers

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("tollgate")

MICRO = 16
ACCUMULATE = 4
EPOCHS = 15

keras.utils.set_random_seed(33)
rng = np.random.default_rng(33)


def vehicles(n):
    kind = rng.integers(0, 5, n)
    length = np.array([2.1, 4.3, 5.6, 9.0, 14.5])[kind] * rng.normal(1, 0.1, n)
    height = np.array([1.3, 1.5, 2.2, 3.3, 3.9])[kind] * rng.normal(1, 0.1, n)
    axles = np.array([2, 2, 2, 3, 5])[kind] + rng.integers(0, 2, n)
    weight = np.array([0.25, 1.4, 2.6, 11.0, 30.0])[kind] * rng.lognormal(0, 0.25, n)
    speed = rng.normal(60, 12, n)
    x = np.stack([length, height, axles, np.log(weight), speed], axis=1)
    return ((x - x.mean(0)) / x.std(0)).astype("float32"), kind.astype("int32")


x, y = vehicles(2560)
train = tf.data.Dataset.from_tensor_slices((x[:2048], y[:2048])).shuffle(2048, seed=33).batch(MICRO)
x_val, y_val = x[2048:], y[2048:]

model = keras.Sequential([
    layers.Input((5,)),
    layers.Dense(48, activation="tanh"),
    layers.Dense(48, activation="tanh"),
    layers.Dense(5),
])
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.SGD(learning_rate=0.1, momentum=0.9)
buffers = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in model.trainable_variables]


@tf.function
def accumulate(xb, yb):
    with tf.GradientTape() as tape:
        loss = loss_fn(yb, model(xb, training=True))
    for buffer, g in zip(buffers, tape.gradient(loss, model.trainable_variables)):
        buffer.assign_add(g / ACCUMULATE)
    return loss


def update():
    optimizer.apply_gradients(zip([b.value() for b in buffers], model.trainable_variables))


for epoch in range(EPOCHS):
    losses = []
    for i, (xb, yb) in enumerate(train, 1):
        losses.append(float(accumulate(xb, yb)))
        if i % ACCUMULATE == 0:
            update()
    pred = np.argmax(model(x_val, training=False), axis=1)
    log.info("epoch %d  loss %.4f  val accuracy %.3f", epoch, np.mean(losses), np.mean(pred == y_val))
