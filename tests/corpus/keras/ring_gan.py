"""GAN for points on a noisy ring, written as a plain loop."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(12)
rng = np.random.default_rng(12)


def ring(n):
    phi = rng.uniform(0, 2 * np.pi, n)
    r = rng.normal(1.0, 0.05, n)
    return np.stack([r * np.cos(phi), r * np.sin(phi)], 1).astype("float32")


NOISE, BATCH, STEPS = 8, 256, 5000
data = tf.data.Dataset.from_tensor_slices(ring(20000)).shuffle(20000).repeat().batch(BATCH)

G = keras.Sequential([
    layers.Input((NOISE,)),
    layers.Dense(64, activation="relu"),
    layers.Dense(64, activation="relu"),
    layers.Dense(2),
], name="generator")
D = keras.Sequential([
    layers.Input((2,)),
    layers.Dense(64),
    layers.LeakyReLU(negative_slope=0.2),
    layers.Dense(64),
    layers.LeakyReLU(negative_slope=0.2),
    layers.Dense(1),
], name="critic")

opt_g = keras.optimizers.Adam(5e-4, beta_1=0.5)
opt_d = keras.optimizers.Adam(1e-3, beta_1=0.5)
bce = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def step_d(real):
    fake = G(tf.random.normal((BATCH, NOISE)), training=False)
    with tf.GradientTape() as tape:
        lr, lf = D(real, training=True), D(fake, training=True)
        loss = 0.5 * (bce(tf.fill(lr.shape, 0.9), lr) + bce(tf.zeros_like(lf), lf))
    opt_d.apply_gradients(zip(tape.gradient(loss, D.trainable_variables), D.trainable_variables))
    return loss


@tf.function
def step_g():
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch([v.value for v in G.trainable_variables])
        score = D(G(tf.random.normal((BATCH, NOISE)), training=True), training=False)
        loss = bce(tf.ones_like(score), score)
    grads = tape.gradient(loss, [v.value for v in G.trainable_variables])
    opt_g.apply_gradients(zip(grads, G.trainable_variables))
    return loss


def describe(points):
    r = np.linalg.norm(points, axis=1)
    sectors = np.histogram(np.arctan2(points[:, 1], points[:, 0]), 12, (-np.pi, np.pi))[0]
    return f"radius {r.mean():.3f} +- {r.std():.3f}, smallest sector {sectors.min() / len(points):.3f}"


z = rng.normal(size=(3000, NOISE)).astype("float32")
print("before:", describe(G.predict(z, verbose=0)))
for i, real in enumerate(data.take(STEPS), 1):
    ld = step_d(real)
    lg = step_g()
    if i % 500 == 0:
        print(f"{i:5d}  d {float(ld):.3f}  g {float(lg):.3f}")
print("after :", describe(G.predict(z, verbose=0)))
print("data  :", describe(ring(3000)))
