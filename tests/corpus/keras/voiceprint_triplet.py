"""Speaker embeddings with semi-hard triplet mining; tested on unseen speakers."""
import argparse
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

N_FRAMES, N_MELS = 30, 20


class SpeakerBank:
    """Each speaker has a vocal tract envelope and a pitch; each clip says other sounds."""

    def __init__(self, n_speakers, seed):
        rng = np.random.default_rng(seed)
        sound_rng = np.random.default_rng(1234)
        self.sounds = sound_rng.normal(0, 1.0, (12, N_MELS))
        grid = np.linspace(0, 1, N_MELS)
        tilt, peak, width = rng.normal(0, 1, n_speakers), rng.uniform(0.1, 0.9, n_speakers), 0.12
        second = rng.uniform(0.1, 0.9, n_speakers)
        self.envelope = (0.7 * tilt[:, None] * (grid - 0.5)
                         + 1.2 * np.exp(-((grid - peak[:, None]) / width) ** 2)
                         - 0.9 * np.exp(-((grid - second[:, None]) / width) ** 2))
        self.rhythm = rng.uniform(2, 7, n_speakers)
        self.n = n_speakers

    def clip(self, s, rng):
        order = rng.integers(0, len(self.sounds), N_FRAMES)
        hold = np.maximum(1, rng.poisson(self.rhythm[s], len(order)))
        frames = np.repeat(order, hold)[:N_FRAMES]
        x = self.sounds[frames] + self.envelope[s] + rng.normal(0, 0.5, (N_FRAMES, N_MELS))
        return (x + rng.normal(0, 0.6)).astype("float32")

    def table(self, per_speaker, rng):
        x = np.stack([[self.clip(s, rng) for _ in range(per_speaker)] for s in range(self.n)])
        return x  # speakers, clips, frames, mels


def encoder(dim):
    inp = keras.Input((N_FRAMES, N_MELS))
    h = layers.Lambda(lambda t: t - tf.reduce_mean(t, axis=(1, 2), keepdims=True),
                      output_shape=(N_FRAMES, N_MELS))(inp)
    h = layers.Conv1D(48, 5, padding="same", activation="relu")(h)
    h = layers.Conv1D(48, 3, padding="same", activation="relu")(h)
    h = layers.Concatenate()([layers.GlobalAveragePooling1D()(h), layers.GlobalMaxPooling1D()(h)])
    h = layers.Dense(dim)(h)
    return keras.Model(inp, layers.UnitNormalization()(h))


def semi_hard_loss(z, labels, margin):
    d = 2.0 - 2.0 * tf.matmul(z, z, transpose_b=True)
    same = tf.equal(labels[:, None], labels[None, :])
    positive = tf.logical_and(same, tf.logical_not(tf.eye(len(labels), dtype=tf.bool)))
    anchor, pos = tf.unstack(tf.cast(tf.where(positive), tf.int32), axis=1)
    d_ap = tf.gather_nd(d, tf.stack([anchor, pos], 1))
    rows, other = tf.gather(d, anchor), tf.logical_not(tf.gather(same, anchor))
    beyond = tf.logical_and(other, rows > d_ap[:, None])
    nearest_beyond = tf.reduce_min(tf.where(beyond, rows, 10.0), axis=1)
    farthest = tf.reduce_max(tf.where(other, rows, -1.0), axis=1)
    d_an = tf.where(tf.reduce_any(beyond, axis=1), nearest_beyond, farthest)
    hinge = tf.nn.relu(d_ap - d_an + margin)
    active = tf.cast(hinge > 0, tf.float32)
    return tf.reduce_sum(hinge) / tf.maximum(tf.reduce_sum(active), 1.0), tf.reduce_mean(active)


def recall_at_1(model, table):
    s, c = table.shape[:2]
    z = model.predict(table.reshape(s * c, N_FRAMES, N_MELS), batch_size=256, verbose=0)
    who = np.repeat(np.arange(s), c)
    sim = z @ z.T - 10 * np.eye(len(z))
    return (who[sim.argmax(1)] == who).mean()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=400)
    p.add_argument("--speakers", type=int, default=16, help="speakers per batch")
    p.add_argument("--clips", type=int, default=4, help="clips per speaker in a batch")
    p.add_argument("--margin", type=float, default=0.3)
    p.add_argument("--dim", type=int, default=24)
    a = p.parse_args()
    keras.utils.set_random_seed(6)
    rng = np.random.default_rng(6)
    train = SpeakerBank(80, seed=1).table(12, rng)
    test = SpeakerBank(40, seed=2).table(6, rng)

    model = encoder(a.dim)
    opt = keras.optimizers.Adam(2e-3)

    @tf.function
    def step(x, labels):
        with tf.GradientTape() as tape:
            loss, active = semi_hard_loss(model(x, training=True), labels, a.margin)
        opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables),
                                model.trainable_variables))
        return loss, active

    before, t0 = recall_at_1(model, test), time.time()
    labels = tf.repeat(tf.range(a.speakers), a.clips)
    log = []
    for i in range(1, a.steps + 1):
        who = rng.choice(len(train), a.speakers, replace=False)
        which = np.stack([rng.choice(train.shape[1], a.clips, replace=False) for _ in who])
        batch = train[who[:, None], which].reshape(-1, N_FRAMES, N_MELS)
        log.append([float(v) for v in step(batch, labels)])
        if i % 80 == 0:
            l, act = np.mean(log[-80:], axis=0)
            print(f"step {i:4d} loss over active triplets {l:.3f} active {act:.2f} {time.time() - t0:.0f}s")
    raw = test.mean(2).reshape(len(test) * 6, -1)
    raw = (raw - raw.mean(1, keepdims=True))
    raw /= np.linalg.norm(raw, axis=1, keepdims=True)
    who = np.repeat(np.arange(len(test)), 6)
    raw_r1 = (who[(raw @ raw.T - 10 * np.eye(len(raw))).argmax(1)] == who).mean()
    print(f"unseen speakers recall@1 {recall_at_1(model, test):.3f} "
          f"(untrained {before:.3f}, mean spectrum {raw_r1:.3f}, chance {5 / (len(raw) - 1):.3f})")
