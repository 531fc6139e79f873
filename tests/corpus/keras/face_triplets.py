"""Batch-hard triplet embedding of face descriptors (synthetic)."""
import numpy as np
import tensorflow as tf
import keras

PEOPLE, SHOTS, DIM, EMB = 60, 30, 64, 16
P, Kk = 12, 4
MARGIN = 0.4


class Faces:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        core = self.rng.normal(0, 1, (PEOPLE, 10))
        mix = self.rng.normal(0, 1, (10, DIM)) / np.sqrt(10)
        nuis = self.rng.normal(0, 1, (20, DIM)) / np.sqrt(20)
        z = self.rng.normal(0, 2.0, (PEOPLE, SHOTS, 20))
        self.x = (np.tanh(core @ mix)[:, None] + z @ nuis * 0.7 + self.rng.normal(0, 0.1, (PEOPLE, SHOTS, DIM))).astype("float32")

    def batch(self):
        who = self.rng.choice(PEOPLE, P, replace=False)
        xs = np.concatenate([self.x[w, self.rng.choice(SHOTS - 10, Kk, replace=False)] for w in who])
        return tf.constant(xs), tf.constant(np.repeat(np.arange(P), Kk))


def pairwise(e):
    diff = e[:, None, :] - e[None, :, :]
    return tf.sqrt(tf.reduce_sum(diff * diff, axis=-1))


def batch_hard(e, y):
    d = pairwise(e)
    same = tf.cast(y[:, None] == y[None, :], tf.float32)
    far_pos = tf.reduce_max(d * same, axis=1)
    near_neg = tf.reduce_min(d + 10.0 * same, axis=1)
    return tf.reduce_mean(tf.nn.softplus((far_pos - near_neg + MARGIN) * 4.0)) / 4.0, tf.reduce_mean(d * same)


def rank1(net, data):
    e = net(data.x.reshape(-1, DIM)).numpy().reshape(PEOPLE, SHOTS, EMB)
    gallery = e[:, :20].mean(1)
    probe = e[:, 20:].reshape(-1, EMB)
    truth = np.repeat(np.arange(PEOPLE), 10)
    return float((((probe[:, None] - gallery[None]) ** 2).sum(-1).argmin(1) == truth).mean())


keras.utils.set_random_seed(1)
faces = Faces(1)
net = keras.Sequential([
    keras.Input((DIM,)),
    keras.layers.Dense(128, activation="relu"),
    keras.layers.Dense(EMB),
    keras.layers.UnitNormalization(axis=-1),
])
opt = keras.optimizers.Adam(1e-3)


@tf.function
def train(x, y):
    with tf.GradientTape() as tape:
        loss, spread = batch_hard(net(x, training=True), y)
        loss = loss + 0.05 * spread
    g = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(g, net.trainable_variables))
    return loss


print("rank-1 before", round(rank1(net, faces), 3))
hist = []
for it in range(1, 3001):
    hist.append(float(train(*faces.batch())))
    if it % 500 == 0:
        print(f"iter {it} loss {np.mean(hist[-100:]):.4f} rank-1 {rank1(net, faces):.3f}")
