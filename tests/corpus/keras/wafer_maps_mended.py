import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import time

import numpy as np
import tensorflow as tf
import keras
from keras import layers

# defect patterns on wafer maps: centre, ring, edge-local, scratch, scattered
CLASSES = ["centre", "ring", "edge", "scratch", "scatter"]
G = 20


def wafer(kind, rng):
    yy, xx = np.mgrid[-1:1:G * 1j, -1:1:G * 1j]
    r, th = np.hypot(xx, yy), np.arctan2(yy, xx)
    p = np.full((G, G), 0.10)
    if kind == 0:
        p = p + 0.4 * (r < rng.uniform(0.25, 0.45))
    elif kind == 1:
        p = p + 0.4 * (np.abs(r - rng.uniform(0.5, 0.65)) < 0.12)
    elif kind == 2:
        a = rng.uniform(-np.pi, np.pi)
        p = p + 0.5 * ((r > 0.75) & (np.abs(np.angle(np.exp(1j * (th - a)))) < 0.6))
    elif kind == 3:
        a = rng.uniform(0, np.pi)
        p = p + 0.5 * (np.abs(xx * np.cos(a) + yy * np.sin(a) - rng.uniform(-0.3, 0.3)) < 0.1)
    else:
        p = p + 0.08
    fails = rng.uniform(size=(G, G)) < p
    leak = 100 + 60 * fails + rng.normal(0, 15, (G, G))     # leakage current, nA
    return np.where(r <= 1, leak, 0)


def lot(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(CLASSES), n)
    x = np.stack([wafer(k, rng) for k in y])[..., None]
    return x.astype("float32"), y.astype("int32")


def conv_block(filters, pool):
    block = [layers.Conv2D(filters, 3, padding="same", use_bias=False),
             layers.BatchNormalization(momentum=0.9),
             layers.Activation("relu")]
    return block + ([layers.MaxPooling2D()] if pool else [])


keras.utils.set_random_seed(31)
net = keras.Sequential(
    [keras.Input((G, G, 1)), layers.BatchNormalization(momentum=0.9)]
    + conv_block(16, False) + conv_block(16, True) + conv_block(32, True)
    + [layers.GlobalAveragePooling2D(), layers.Dropout(0.1), layers.Dense(len(CLASSES))]
)
optimizer = keras.optimizers.Adam(3e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
train_acc = keras.metrics.SparseCategoricalAccuracy()
test_acc = keras.metrics.SparseCategoricalAccuracy()

x, y = lot(2000, 1)
xt, yt = lot(500, 2)
train_ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(2000).batch(50)
test_ds = tf.data.Dataset.from_tensor_slices((xt, yt)).batch(100)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        logits = net(xb, training=True)
        loss = loss_fn(yb, logits)
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    train_acc.update_state(yb, logits)
    return loss


@tf.function
def test_step(xb, yb):
    test_acc.update_state(yb, net(xb, training=False))


for epoch in range(14):
    t0 = time.time()
    train_acc.reset_state()
    test_acc.reset_state()
    total = 0.0
    for xb, yb in train_ds:
        total += float(train_step(xb, yb))
    for xb, yb in test_ds:
        test_step(xb, yb)
    print(f"epoch {epoch} loss {total / len(train_ds):.4f} train {float(train_acc.result()):.3f} "
          f"test {float(test_acc.result()):.3f} ({time.time() - t0:.1f}s)")
