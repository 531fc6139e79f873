"""Pollen grains in an image: density regression, micro-batches of 8 summed to 32 before each update."""
import argparse
import math
import numpy as np
import tensorflow as tf
import keras
from keras import layers

p = argparse.ArgumentParser()
p.add_argument("--images", type=int, default=760)
p.add_argument("--micro", type=int, default=8)
p.add_argument("--accum", type=int, default=4)
p.add_argument("--epochs", type=int, default=20)
a = p.parse_args()

keras.utils.set_random_seed(40)
rng = np.random.default_rng(40)
S = 32


def slides(n):
    yy, xx = np.mgrid[0:S, 0:S]
    img = rng.normal(0, 0.08, (n, S, S)) + rng.uniform(0, 0.2, (n, 1, 1))
    cnt = rng.integers(0, 9, n)
    for i in range(n):
        for _ in range(cnt[i]):
            cy, cx = rng.uniform(3, S - 3, 2)
            img[i] += rng.uniform(0.6, 1.0) * np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / 4.0)
    return img[..., None].astype("float32"), cnt.astype("float32")


x, y = slides(a.images)
xt, yt = slides(300)

net = keras.Sequential([
    keras.Input((S, S, 1)),
    layers.Conv2D(16, 5, padding="same", activation="relu"),
    layers.Conv2D(16, 5, padding="same", activation="relu"),
    layers.Conv2D(1, 1, activation="softplus", bias_initializer=keras.initializers.Constant(-5.0)),
])
opt = keras.optimizers.Adam(6e-3)
tv = net.trainable_variables
store = [tf.Variable(tf.zeros_like(v), trainable=False) for v in tv]


@tf.function
def collect(xb, yb):
    with tf.GradientTape() as tape:
        count = tf.reduce_sum(net(xb), axis=[1, 2, 3])
        sq = tf.reduce_sum((count - yb) ** 2)
    for s, g in zip(store, tape.gradient(sq, tv)):
        s.assign_add(g)
    return sq


@tf.function
def apply(seen):
    opt.apply_gradients([(s / seen, v) for s, v in zip(store, tv)])
    for s in store:
        s.assign(tf.zeros_like(s))


for epoch in range(a.epochs):
    order = rng.permutation(len(x))
    chunks = [order[i:i + a.micro] for i in range(0, len(order), a.micro)]
    total, seen = 0.0, 0
    for k, c in enumerate(chunks, 1):
        total += float(collect(x[c], y[c]))
        seen += len(c)
        if k % a.accum == 0 or k == len(chunks):
            apply(tf.constant(float(seen)))
            seen = 0
    est = tf.reduce_sum(net(xt), axis=[1, 2, 3]).numpy()
    print(f"epoch {epoch:2d} rmse {math.sqrt(total / len(x)):.3f} test MAE {np.abs(est - yt).mean():.3f}")
print("MAE of the mean count %.3f, updates %d" % (np.abs(yt - y.mean()).mean(), int(opt.iterations)))
