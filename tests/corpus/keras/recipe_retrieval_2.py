"""Two-tower retrieval of recipes: in-batch negatives, popularity correction, one shared item table."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers, ops

keras.utils.set_random_seed(9)
N_USERS, N_ITEMS, HIST, DIM, BATCH = 4000, 400, 8, 24, 256


def interactions(seed=1):
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, 12, N_ITEMS)
    pop = rng.pareto(2.0, N_ITEMS) + 0.3
    hist = np.zeros((N_USERS, HIST), "int32")
    nxt = np.zeros(N_USERS, "int32")
    for u in range(N_USERS):
        liked = rng.choice(12, 2, replace=False)
        w = pop * np.where(np.isin(topic, liked), 1.0, 0.01)
        picks = rng.choice(N_ITEMS, HIST + 1, replace=False, p=w / w.sum())
        n = rng.integers(4, HIST + 1)
        hist[u, :n] = picks[:n] + 1                 # 0 is "nothing yet"
        nxt[u] = picks[-1] + 1
    return hist, nxt


def prefixes(hist, nxt):
    """Every prefix of at least two recipes predicts the recipe that came after it."""
    h, t = [hist], [nxt]
    for k in range(2, HIST):
        on = hist[:, k] > 0
        part = hist[on].copy()
        t.append(part[:, k].copy())
        part[:, k:] = 0
        h.append(part)
    return np.concatenate(h), np.concatenate(t)


class TwoTower(keras.Model):
    def __init__(self, log_q, temperature=0.12):
        super().__init__()
        self.table = layers.Embedding(N_ITEMS + 1, DIM, mask_zero=True)
        self.mix = keras.Sequential([layers.Dense(48, activation="gelu"), layers.Dense(DIM)])
        self.log_q = tf.constant(log_q, tf.float32)
        self.temperature = temperature
        self.seen = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.seen]

    def user(self, hist, training=False):
        e = self.table(hist)
        m = ops.cast(ops.not_equal(hist, 0), "float32")[..., None]
        mean = ops.sum(e * m, 1) / ops.maximum(ops.sum(m, 1), 1.0)
        return ops.normalize(mean + self.mix(mean), axis=-1)

    def item(self, ids):
        return ops.normalize(self.table(ids), axis=-1)

    def call(self, inputs, training=False):
        hist, target = inputs
        return self.user(hist, training), self.item(target)

    def train_step(self, data):
        hist, target = data
        with tf.GradientTape() as tape:
            u, v = self((hist, target), training=True)
            logits = tf.matmul(u, v, transpose_b=True) / self.temperature
            logits -= tf.gather(self.log_q, target)[None]
            clash = tf.equal(target[:, None], target[None]) & ~tf.eye(tf.shape(target)[0], dtype=tf.bool)
            logits = tf.where(clash, -1e9, logits)
            loss = tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=tf.range(tf.shape(target)[0]), logits=logits))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(grads, self.trainable_variables)
        self.seen.update_state(loss / tf.cast(tf.shape(target)[0], tf.float32))
        return {"loss": self.seen.result()}


def recall(scores, hist, target, k=10):
    scores = scores.copy()
    np.put_along_axis(scores, hist, -np.inf, 1)      # never what was cooked already
    top = np.argpartition(-scores, k, axis=1)[:, :k]
    return float((top == target[:, None]).any(1).mean())


hist, nxt = interactions()
cut, cut2 = int(0.8 * N_USERS), int(0.9 * N_USERS)
count = np.bincount(np.append(hist[:cut], nxt[:cut]), minlength=N_ITEMS + 1).astype(float)
count[0] = 0
train_h, train_t = prefixes(hist[:cut], nxt[:cut])
freq = np.bincount(train_t, minlength=N_ITEMS + 1) + 0.5

model = TwoTower(np.log(freq / freq.sum()))
model.compile(optimizer=keras.optimizers.Adagrad(0.1, initial_accumulator_value=0.1))
ds = tf.data.Dataset.from_tensor_slices((train_h, train_t)).shuffle(len(train_t)).batch(
    BATCH, drop_remainder=True)

all_items = np.arange(N_ITEMS + 1)


def evaluate(lo, hi):
    u = model.user(ops.convert_to_tensor(hist[lo:hi])).numpy()
    v = model.item(ops.convert_to_tensor(all_items)).numpy()
    s = u @ v.T / model.temperature
    s[:, 0] = -np.inf
    return recall(s, hist[lo:hi], nxt[lo:hi])


for epoch in range(6):
    h = model.fit(ds, verbose=0)
    print(f"epoch {epoch + 1}: loss {h.history['loss'][-1]:.3f}  val recall@10 {evaluate(cut, cut2):.3f}")

pop = np.tile(count, (N_USERS - cut2, 1))
print(f"test recall@10 {evaluate(cut2, N_USERS):.3f}  most popular {recall(pop, hist[cut2:], nxt[cut2:]):.3f}  "
      f"random {10 / N_ITEMS:.3f}")
