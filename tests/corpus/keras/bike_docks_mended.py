"""Demand at bike docks: Poisson regression with an annealed ridge term, own loop."""
import time
import resource
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(17)
rng = np.random.default_rng(17)
DOCKS, N = 40, 4000


def trips(n):
    dock = rng.integers(0, DOCKS, n)
    hour = rng.integers(0, 24, n)
    rain = rng.random(n) < 0.2
    temp = rng.normal(15, 7, n)
    rate = base[dock] + 0.8 * np.sin(2 * np.pi * (hour - 8) / 24) - 0.9 * rain + 0.04 * (temp - 15)
    x = np.stack([np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24), rain, (temp - 15) / 7], 1)
    return dock.astype("int32"), x.astype("float32"), rng.poisson(np.exp(rate)).astype("float32")


base = rng.normal(1.0, 0.6, DOCKS)
dock, feats, count = trips(N)
vdock, vfeats, vcount = trips(1500)

emb = keras.layers.Embedding(DOCKS, 8)
body = keras.Sequential([keras.layers.Dense(48, activation="relu"), keras.layers.Dense(32, activation="relu"),
                         keras.layers.Dense(1)])


def log_rate(d, x):
    return body(tf.concat([emb(d), x], axis=1))[:, 0]


log_rate(dock[:2], feats[:2])
variables = emb.trainable_variables + body.trainable_variables
opt = keras.optimizers.Adam(6e-3)


@tf.function
def train_step(d, x, y, step):
    ridge = 1e-3 * tf.exp(-tf.cast(step, tf.float32) / 40.0)
    with tf.GradientTape() as tape:
        lr_ = log_rate(d, x)
        nll = tf.reduce_mean(tf.exp(lr_) - y * lr_)
        loss = nll + ridge * tf.add_n([tf.reduce_sum(v ** 2) for v in variables])
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return nll


BATCH, EPOCHS = 128, 4
step = 0
began = time.time()
for epoch in range(EPOCHS):
    order = rng.permutation(N)
    total = []
    for s in range(0, N - BATCH + 1, BATCH):
        j = order[s:s + BATCH]
        nll = train_step(tf.constant(dock[j]), tf.constant(feats[j]), tf.constant(count[j]), tf.constant(step))
        total.append(float(nll))
        step += 1
    lv = log_rate(vdock, vfeats).numpy()
    dev = np.mean(np.exp(lv) - vcount * lv)
    print(f"epoch {epoch} nll {np.mean(total):.4f} valid {dev:.4f} "
          f"{(time.time() - began) / step * 1000:.1f} ms/step "
          f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
lb = np.log(vcount.mean())
print("valid nll %.4f (constant rate %.4f), correlation %.3f"
      % (dev, np.exp(lb) - vcount.mean() * lb, np.corrcoef(np.exp(lv), vcount)[0, 1]))
