"""Bearing-fault detection from vibration, float16 compute with a custom loop.

Gradients of four micro-batches are summed before each update.
"""
import dataclasses
import numpy as np
import tensorflow as tf
import keras
from keras import layers


@dataclasses.dataclass
class Config:
    micro_batch: int = 32
    accumulate: int = 4
    epochs: int = 8
    lr: float = 3e-3
    seed: int = 17
    n_train: int = 2048
    n_test: int = 600
    length: int = 512


CFG = Config()
KINDS = ["healthy", "inner", "outer", "cage"]


def signal(kind, rng, n):
    t = np.arange(n)
    base = 0.5 * np.sin(2 * np.pi * t / rng.uniform(28, 34) + rng.uniform(0, 6))
    x = base + rng.normal(0, 0.4, n)
    period = {0: None, 1: 29, 2: 47, 3: 83}[kind]
    if period:
        for k in np.arange(rng.integers(0, period), n, period * rng.normal(1, 0.02)):
            k = int(k)
            m = min(24, n - k)
            j = np.arange(m)
            x[k:k + m] += rng.uniform(1.2, 2.2) * np.exp(-j / 6) * np.sin(1.3 * j)
    return x


def dataset(n, rng):
    y = rng.integers(0, len(KINDS), n)
    x = np.stack([signal(k, rng, CFG.length) for k in y])[..., None]
    return x.astype("float32"), y.astype("int32")


def build():
    inp = keras.Input((CFG.length, 1))
    x = layers.Conv1D(16, 25, strides=2, padding="same")(inp)
    x = layers.Activation("relu")(x)
    x = layers.Conv1D(32, 9, strides=2, padding="same", activation="relu")(x)
    x = layers.Conv1D(32, 9, strides=4, padding="same", activation="relu")(x)
    x = layers.Conv1D(32, 9, strides=2, padding="same", activation="relu")(x)
    x = layers.GlobalAveragePooling1D()(x)
    out = layers.Dense(len(KINDS), dtype="float32")(x)
    return keras.Model(inp, out)


keras.utils.set_random_seed(CFG.seed)
keras.mixed_precision.set_global_policy("mixed_float16")
rng = np.random.default_rng(CFG.seed)
x_tr, y_tr = dataset(CFG.n_train, rng)
x_te, y_te = dataset(CFG.n_test, rng)
net = build()
opt = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.Adam(CFG.lr), initial_scale=2.0 ** 12)
opt.build(net.trainable_variables)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
buffers = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in net.trainable_variables]


@tf.function
def micro_step(x, y):
    with tf.GradientTape() as tape:
        loss = ce(y, net(x, training=True)) / CFG.accumulate
        scaled = opt.scale_loss(loss)
    grads = tape.gradient(scaled, net.trainable_variables)
    for b, g in zip(buffers, grads):
        b.assign_add(tf.cast(g, tf.float32))
    return loss * CFG.accumulate


@tf.function
def apply_step():
    # the optimizer divides by its scale itself and skips non-finite sums
    opt.apply([tf.identity(b) for b in buffers], net.trainable_variables)
    for b in buffers:
        b.assign(tf.zeros_like(b))


def accuracy(x, y):
    logits = np.concatenate([net(x[i:i + 200], training=False).numpy() for i in range(0, len(x), 200)])
    return (logits.argmax(1) == y).mean()


batches = (tf.data.Dataset.from_tensor_slices((x_tr, y_tr)).shuffle(CFG.n_train)
           .batch(CFG.micro_batch, drop_remainder=True))
for epoch in range(CFG.epochs):
    losses = []
    for i, (xb, yb) in enumerate(batches, 1):
        losses.append(float(micro_step(xb, yb)))
        if i % CFG.accumulate == 0:
            apply_step()
    print(f"epoch {epoch + 1} loss {np.mean(losses):.4f} scale {float(opt.dynamic_scale):.0f}")
print(f"chance {np.bincount(y_te).max() / len(y_te):.3f}  test accuracy {accuracy(x_te, y_te):.3f}")
