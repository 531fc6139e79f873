import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import time
import numpy as np
import psutil
import tensorflow as tf
from sklearn.metrics import roc_auc_score

tf.random.set_seed(2)
PROCESS = psutil.Process()


def rss_mb():
    return PROCESS.memory_info().rss / 2**20


def listening_log(n_users=200, n_songs=150, n=26000, seed=0):
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(n_users, 6))
    s = rng.normal(size=(n_songs, 6))
    users = rng.integers(0, n_users, n)
    songs = rng.integers(0, n_songs, n)
    affinity = (u[users] * s[songs]).sum(1) + 0.5 * rng.normal(size=n)
    return users.astype("int32"), songs.astype("int32"), (affinity > 0.3).astype("float32")


class TwoTower(tf.Module):
    def __init__(self, n_users, n_songs, dim=32, hidden=512):
        super().__init__()
        init = tf.random_normal_initializer(0.0, 0.1)
        self.users = tf.Variable(init((n_users, dim)), name="users")
        self.songs = tf.Variable(init((n_songs, dim)), name="songs")
        glorot = tf.initializers.GlorotUniform()
        self.w1 = tf.Variable(glorot((3 * dim, hidden)), name="w1")
        self.b1 = tf.Variable(tf.zeros(hidden), name="b1")
        self.w2 = tf.Variable(glorot((hidden, 1)), name="w2")

    def __call__(self, u, s):
        eu, es = tf.gather(self.users, u), tf.gather(self.songs, s)
        h = tf.nn.relu(tf.concat([eu, es, eu * es], 1) @ self.w1 + self.b1)
        return (h @ self.w2)[:, 0] + tf.reduce_sum(eu * es, 1)


class Recommender:
    def __init__(self, n_users, n_songs, lr=1e-2, batch=1024):
        self.net = TwoTower(n_users, n_songs)
        self.opt_tables = tf.keras.optimizers.Adam(lr)
        self.opt_dense = tf.keras.optimizers.Adam(lr / 5)
        self.batch = batch
        self.memory = []

    def fit(self, users, songs, liked, epochs):
        tables = [self.net.users, self.net.songs]
        dense = [self.net.w1, self.net.b1, self.net.w2]
        data = tf.data.Dataset.from_tensor_slices((users, songs, liked))
        data = data.shuffle(20000, seed=1).batch(self.batch)
        tape = tf.GradientTape(persistent=True)
        for epoch in range(epochs):
            t0, total = time.time(), []
            for u, s, y in data:
                with tape:
                    logit = self.net(u, s)
                    loss = tf.reduce_mean(
                        tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logit))
                self.opt_tables.apply_gradients(zip(tape.gradient(loss, tables), tables))
                self.opt_dense.apply_gradients(zip(tape.gradient(loss, dense), dense))
                total.append(float(loss))
            self.memory.append(rss_mb())
            print(f"epoch {epoch:2d} loss {np.mean(total):.4f} "
                  f"{time.time() - t0:.1f} s  {self.memory[-1]:.0f} MB")

    def score(self, users, songs):
        return tf.sigmoid(self.net(users, songs)).numpy()


users, songs, liked = listening_log()
cut = 20000
rec = Recommender(200, 150)
start = rss_mb()
rec.fit(users[:cut], songs[:cut], liked[:cut], epochs=10)
auc = roc_auc_score(liked[cut:], rec.score(users[cut:], songs[cut:]))
print(f"test AUC {auc:.3f}")
print(f"memory before training {start:.0f} MB, after epoch 1 {rec.memory[0]:.0f} MB, "
      f"at the end {rec.memory[-1]:.0f} MB")
