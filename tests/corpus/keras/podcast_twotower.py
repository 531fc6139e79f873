"""Two-tower podcast recommender: in-batch softmax with popularity correction, sharp temperature, mined negatives."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
import keras
from keras import layers

USERS, SHOWS, DIM = 600, 300, 24


def listening(seed=0):
    r = np.random.default_rng(seed)
    topics = r.dirichlet(np.ones(8) * 0.15, SHOWS)
    taste = r.dirichlet(np.ones(8) * 0.25, USERS)
    pop = r.zipf(1.6, SHOWS).clip(1, 60) ** 0.5
    rows = []
    for u in range(USERS):
        p = (taste[u] @ topics.T) ** 2 * pop
        picks = r.choice(SHOWS, 22, replace=False, p=p / p.sum())
        rows += [(u, s, k >= 18) for k, s in enumerate(r.permutation(picks))]
    a = np.array(rows, dtype="int32")
    return a[a[:, 2] == 0, :2], a[a[:, 2] == 1, :2]


class TwoTower(keras.Model):
    def __init__(self, log_pop, temperature=0.1):
        super().__init__()
        self.users = layers.Embedding(USERS, DIM, embeddings_initializer="normal")
        self.shows = layers.Embedding(SHOWS, DIM, embeddings_initializer="normal")
        self.log_pop = tf.constant(log_pop, tf.float32)
        self.tau = temperature
        self.tracker = keras.metrics.Mean(name="loss")

    def vectors(self, emb, ids):
        return tf.math.l2_normalize(emb(ids), axis=-1)

    def call(self, ids):
        return self.vectors(self.users, ids[:, 0])

    def train_step(self, batch):
        u, s = batch[:, 0], batch[:, 1]
        with tf.GradientTape() as tape:
            q = self.vectors(self.users, u)
            k = self.vectors(self.shows, s)
            logits = tf.matmul(q, k, transpose_b=True) / self.tau
            logits -= tf.gather(self.log_pop, s)[None]               # frequent shows appear more often as negatives
            same = (s[:, None] == s[None]) & ~tf.eye(tf.shape(s)[0], dtype=tf.bool)
            logits = tf.where(same, -1e9, logits)                    # the same show elsewhere in the batch is no negative
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.range(tf.shape(s)[0]), logits)
            # emphasise the worst third
            hard = tf.math.top_k(loss, tf.shape(s)[0] // 3).values
            total = 0.5 * tf.reduce_mean(loss) + 0.5 * tf.reduce_mean(hard)
        g = tape.gradient(total, self.trainable_variables)
        self.optimizer.apply_gradients(zip(g, self.trainable_variables))
        self.tracker.update_state(tf.reduce_mean(loss))
        return {"loss": self.tracker.result()}

    @property
    def metrics(self):
        return [self.tracker]


def recall_at(scores, train, test, k=20):
    scores = scores.copy()
    scores[train[:, 0], train[:, 1]] = -np.inf
    top = np.argpartition(-scores, k, axis=1)[:, :k]
    hits = [s in top[u] for u, s in test]
    return float(np.mean(hits))


def main():
    keras.utils.set_random_seed(28)
    train, test = listening()
    counts = np.bincount(train[:, 1], minlength=SHOWS) + 1.0
    model = TwoTower(np.log(counts / counts.sum()))
    # Adagrad with a rate of one half: the usual choice for sparse id embeddings
    model.compile(optimizer=keras.optimizers.Adagrad(0.5))
    ds = tf.data.Dataset.from_tensor_slices(train).shuffle(len(train), seed=1).batch(256, drop_remainder=True)
    h = model.fit(ds, epochs=15, verbose=0)
    print("loss", [round(v, 3) for v in h.history["loss"][::3]])

    q = model.vectors(model.users, np.arange(USERS)).numpy()
    k = model.vectors(model.shows, np.arange(SHOWS)).numpy()
    scores = q @ k.T / model.tau
    pop = np.tile(counts, (USERS, 1))
    print(f"recall@20 two-tower {recall_at(scores, train, test):.3f}   most popular {recall_at(pop, train, test):.3f}"
          f"   random {20 / (SHOWS - 18):.3f}")


if __name__ == "__main__":
    main()
