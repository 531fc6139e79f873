"""Two-tower retrieval for a podcast app: in-batch softmax with popularity correction, own training loop."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(14)
rng = np.random.default_rng(14)
USERS, ITEMS, TASTES, PER_USER = 600, 300, 8, 18

# ---- listening logs: taste clusters plus a long popularity tail
popularity = (np.arange(ITEMS) + 5.0) ** -0.7
rng.shuffle(popularity)
item_taste = rng.integers(0, TASTES, ITEMS)
user_mix = rng.dirichlet(np.full(TASTES, 0.15), USERS)
logs = []
for u in range(USERS):
    p = popularity * user_mix[u, item_taste]
    p = p / p.sum()
    size = min(PER_USER, int((p > 1e-9).sum()))
    logs.append(rng.choice(ITEMS, size=size, replace=False, p=p))
held_out = np.array([items[-1] for items in logs])
train_rows = np.array([(u, i) for u, items in enumerate(logs) for i in items[:-1]], dtype="int32")
seen = np.zeros((USERS, ITEMS), bool)
seen[train_rows[:, 0], train_rows[:, 1]] = True
item_freq = np.bincount(train_rows[:, 1], minlength=ITEMS) + 1.0
log_q = tf.constant(np.log(item_freq / item_freq.sum()), tf.float32)


class UnitNorm(layers.Layer):
    def call(self, x):
        return x * tf.math.rsqrt(tf.reduce_sum(x * x, -1, keepdims=True) + 1e-9)


def tower(n, dim=24):
    return keras.Sequential([
        keras.Input((), dtype="int32"),
        layers.Embedding(n, dim, embeddings_initializer=keras.initializers.RandomNormal(stddev=0.3)),
        layers.Dropout(0.3),
        layers.Dense(dim),
        UnitNorm(),
    ])


users, items = tower(USERS), tower(ITEMS)
item_bias = tf.Variable(tf.zeros([ITEMS]), name="item_bias")
inv_temp = tf.Variable(8.0, name="inv_temp")
variables = users.trainable_variables + items.trainable_variables
optimizer = keras.optimizers.Lamb(learning_rate=keras.optimizers.schedules.PolynomialDecay(0.02, 450, 1e-4))


@tf.function
def step(u, i):
    with tf.GradientTape() as tape:
        logits = inv_temp * tf.matmul(users(u, training=True), items(i, training=True), transpose_b=True)
        logits += tf.gather(item_bias, i)[None] - tf.gather(log_q, i)[None]
        # the same episode twice in a batch must not serve as its own negative
        twin = tf.equal(i[:, None], i[None]) & ~tf.eye(tf.shape(i)[0], dtype=tf.bool)
        logits = tf.where(twin, -1e9, logits)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(tf.range(tf.shape(i)[0]), logits))
    grads = tape.gradient(loss, variables + [item_bias, inv_temp])
    optimizer.apply_gradients(zip(grads[:len(variables)], variables))
    bias_grad = tf.convert_to_tensor(grads[-2])
    item_bias.assign_sub(2.0 * bias_grad)
    inv_temp.assign(tf.clip_by_value(inv_temp - 0.5 * grads[-1], 1.0, 20.0))
    return loss


def recall_at(scores, k=20):
    scores = np.where(seen, -np.inf, scores)
    top = np.argpartition(-scores, k, axis=1)[:, :k]
    return float((top == held_out[:, None]).any(1).mean())


def model_scores():
    u = users(np.arange(USERS)).numpy()
    i = items(np.arange(ITEMS)).numpy()
    return float(inv_temp) * u @ i.T + item_bias.numpy()


BATCH = 256
print("rows", len(train_rows), "first loss should be near", round(float(np.log(BATCH)), 2))
for epoch in range(1, 13):
    order = rng.permutation(len(train_rows))[: len(train_rows) // BATCH * BATCH]
    losses = [float(step(train_rows[b, 0], train_rows[b, 1])) for b in order.reshape(-1, BATCH)]
    if epoch % 3 == 0:
        print(f"epoch {epoch:2d}  loss {np.mean(losses):.3f}  1/T {float(inv_temp):.2f}  "
              f"recall@20 {recall_at(model_scores()):.3f}")

popular = np.tile(item_freq, (USERS, 1))
print(f"held-out recall@20: two towers {recall_at(model_scores()):.3f}, most popular {recall_at(popular):.3f}, "
      f"random {20 / ITEMS:.3f}")
