"""Denoise magnitude frames of short clips with a small conv autoencoder (plain tape loop)."""
import resource
import time

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(3)
tf.random.set_seed(3)

N_CLIPS, FRAMES, BINS = 512, 96, 96
BATCH = 64
EPOCHS = 30


def make_clip():
    t = np.arange(FRAMES)[:, None]
    f = np.arange(BINS)[None, :]
    out = np.zeros((FRAMES, BINS))
    f0 = rng.uniform(5, 11)
    drift = rng.uniform(-0.05, 0.05)
    for h in range(1, 6):
        centre = (f0 + drift * t) * h
        out += np.exp(-0.5 * ((f - centre) / 1.2) ** 2) / h
    out *= np.exp(-t / rng.uniform(40, 120))
    return out.astype("float32")


clean = np.stack([make_clip() for _ in range(N_CLIPS)])[..., None]
noisy = np.abs(clean + 0.3 * rng.standard_normal(clean.shape).astype("float32"))
n_train = 448
train = (
    tf.data.Dataset.from_tensor_slices((noisy[:n_train], clean[:n_train]))
    .shuffle(n_train, seed=1)
    .batch(BATCH)
)

model = tf.keras.Sequential(
    [
        tf.keras.Input((FRAMES, BINS, 1)),
        tf.keras.layers.Conv2D(8, 5, strides=2, padding="same", activation="relu"),
        tf.keras.layers.Conv2D(16, 3, padding="same", activation="relu"),
        tf.keras.layers.Conv2DTranspose(8, 4, strides=2, padding="same", activation="relu"),
        tf.keras.layers.Conv2D(1, 3, padding="same"),
    ]
)
opt = tf.keras.optimizers.Adam(3e-3)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        out = model(x, training=True)
        err = tf.abs(out - y)
        loss = tf.reduce_mean(tf.square(out - y)) + 0.1 * tf.reduce_mean(err)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss, out, err


def rss_mb():
    with open("/proc/self/statm") as fh:
        return int(fh.read().split()[1]) * resource.getpagesize() / 2**20


journal = []
t0 = time.time()
for epoch in range(EPOCHS):
    for x, y in train:
        loss, out, err = train_step(x, y)
        journal.append({"loss": float(loss), "err": float(tf.reduce_mean(err))})
    last = journal[-len(train):]
    mean_loss = np.mean([float(r["loss"]) for r in last])
    mean_err = np.mean([float(tf.reduce_mean(r["err"])) for r in last])
    if epoch % 3 == 0 or epoch == EPOCHS - 1:
        print(
            f"epoch {epoch:2d}  loss {mean_loss:.4f}  abs err {mean_err:.4f}  "
            f"rss {rss_mb():.0f} MB  {time.time() - t0:.1f}s"
        )

pred = model.predict(noisy[n_train:], verbose=0)
base = np.mean((noisy[n_train:] - clean[n_train:]) ** 2)
print("held-out mse", float(np.mean((pred - clean[n_train:]) ** 2)), "untouched", float(base))
curve = np.array([float(r["loss"]) for r in journal])
print("first/last ten steps:", curve[:10].mean().round(4), curve[-10:].mean().round(4))
