"""Two-tower retrieval of tracks for listeners, in-batch softmax."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras
from keras import layers

N_USERS, N_TRACKS, TASTES, DIM = 800, 400, 12, 24


def plays(seed=0, per_user=30):
    rng = np.random.default_rng(seed)
    taste_u = rng.dirichlet(np.full(TASTES, 0.15), N_USERS)
    genre = rng.integers(0, TASTES, N_TRACKS)
    audio = np.eye(TASTES)[genre] @ rng.normal(size=(TASTES, 16)) + rng.normal(0, 1.0, (N_TRACKS, 16))
    users, tracks = [], []
    for u in range(N_USERS):
        p = taste_u[u][genre]
        p = (p + 1e-4) / (p + 1e-4).sum()
        tracks.extend(rng.choice(N_TRACKS, per_user, p=p, replace=False))
        users.extend([u] * per_user)
    order = rng.permutation(len(users))
    return np.array(users)[order], np.array(tracks)[order], audio.astype("float32")


class Tower(keras.Model):
    def __init__(self, n_ids, name):
        super().__init__(name=name)
        self.emb = layers.Embedding(n_ids, DIM)
        self.h = layers.Dense(48, activation="relu")
        self.out = layers.Dense(DIM)

    def call(self, ids, feats=None):
        h = self.emb(ids)
        if feats is not None:
            h = tf.concat([h, feats], -1)
        return tf.math.l2_normalize(self.out(self.h(h)), -1)


class Trainer:
    def __init__(self, audio, temperature=0.1, lr=3e-3):
        self.users = Tower(N_USERS, "users")
        self.tracks = Tower(N_TRACKS, "tracks")
        self.audio = tf.constant(audio)
        self.t = temperature
        self.opt = keras.optimizers.Adam(lr)

    def embed_tracks(self, ids):
        return self.tracks(ids, tf.gather(self.audio, ids))

    @tf.function
    def step(self, u, i):
        same = tf.cast((i[:, None] == i[None]) & ~tf.eye(tf.shape(i)[0], dtype=tf.bool), tf.float32)
        labels = tf.range(tf.shape(i)[0])
        iv = self.embed_tracks(i)
        with tf.GradientTape() as tape:
            uv = self.users(u)
            logits = tf.matmul(uv, iv, transpose_b=True) / self.t - 1e4 * same
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        variables = self.users.trainable_variables + self.tracks.trainable_variables
        grads = tape.gradient(loss, variables)
        self.opt.apply_gradients([(g, v) for g, v in zip(grads, variables) if g is not None])
        return loss

    def fit(self, u, i, epochs=10, batch=256):
        ds = tf.data.Dataset.from_tensor_slices((u, i)).shuffle(len(u)).batch(batch, drop_remainder=True)
        for epoch in range(epochs):
            mean = np.mean([float(self.step(a, b)) for a, b in ds])
            print(f"epoch {epoch} loss {mean:.4f}")

    def recall_at(self, k, u, i, seen):
        scores = self.users(np.arange(N_USERS)).numpy() @ self.embed_tracks(np.arange(N_TRACKS)).numpy().T
        scores[seen] = -9
        top = np.argpartition(-scores, k, axis=1)[:, :k]
        return float(np.mean([t in top[v] for v, t in zip(u, i)]))


if __name__ == "__main__":
    keras.utils.set_random_seed(2)
    u, i, audio = plays()
    cut = int(0.9 * len(u))
    tr = Trainer(audio)
    tr.fit(u[:cut].astype("int32"), i[:cut].astype("int32"))
    seen = np.zeros((N_USERS, N_TRACKS), bool)
    seen[u[:cut], i[:cut]] = True
    print(f"recall@20 on held-out plays: {tr.recall_at(20, u[cut:], i[cut:], seen):.3f}")
