import math
import time

import numpy as np
import tensorflow as tf

tf.random.set_seed(5)
np.random.seed(5)

T, CLASSES = 24, 5
STEPS, WARMUP, PEAK = 50, 8, 4e-3
BATCH = 48


def stroke(kind):
    t = np.linspace(0, 1, T)
    a = np.random.uniform(0.7, 1.3)
    if kind == 0:
        xy = np.stack([t, a * t], 1)
    elif kind == 1:
        xy = np.stack([np.cos(6.28 * t), a * np.sin(6.28 * t)], 1)
    elif kind == 2:
        xy = np.stack([t, a * np.abs(t - 0.5)], 1)
    elif kind == 3:
        xy = np.stack([t, 0.3 * a * np.sin(15 * t)], 1)
    else:
        xy = np.stack([t * np.cos(9 * t), a * t * np.sin(9 * t)], 1)
    return (xy + np.random.normal(0, 0.06, xy.shape)).astype("float32")


def dataset(n):
    y = np.random.randint(0, CLASSES, n)
    return np.stack([stroke(k) for k in y]), y


def lr_at(step):
    if step < WARMUP:
        return PEAK * (step + 1) / WARMUP
    return 0.5 * PEAK * (1 + math.cos(math.pi * (step - WARMUP) / (STEPS - WARMUP)))


x, y = dataset(2000)
xt, yt = dataset(400)
x, xt, y, yt = map(tf.constant, (x, xt, y, yt))

net = tf.keras.Sequential([
    tf.keras.Input((T, 2)),
    tf.keras.layers.Conv1D(32, 5, activation="relu"),
    tf.keras.layers.GRU(32),
    tf.keras.layers.Dense(CLASSES),
])
m = [tf.Variable(tf.zeros_like(v)) for v in net.trainable_variables]


@tf.function
def train_step(xb, yb, lr):
    with tf.GradientTape() as tape:
        logits = net(xb, training=True)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=yb, logits=logits))
    grads = tape.gradient(loss, net.trainable_variables)
    grads, norm = tf.clip_by_global_norm(grads, 1.0)
    for v, g, mom in zip(net.trainable_variables, grads, m):
        mom.assign(0.9 * mom + g)
        v.assign_sub(10.0 * lr * mom)
    return loss, norm


start = time.time()
for step in range(STEPS):
    idx = tf.constant(np.random.randint(0, len(x), BATCH))
    lr = tf.constant(lr_at(step), tf.float32)
    loss, norm = train_step(tf.gather(x, idx), tf.gather(y, idx), lr)
    if step % 10 == 0 or step == STEPS - 1:
        rate = (step + 1) / (time.time() - start)
        print(f"step {step:4d} lr {float(lr):.5f} loss {float(loss):.3f} "
              f"gnorm {float(norm):.2f} {rate:.1f} steps/s")

acc = np.mean(net(xt).numpy().argmax(-1) == yt.numpy())
print(f"test accuracy {acc:.3f}, training took {time.time() - start:.1f}s")
