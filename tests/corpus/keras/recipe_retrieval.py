"""Two-tower recommender: in-batch softmax with a popularity correction plus mined hard negatives."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(29)
rng = np.random.default_rng(29)
USERS, ITEMS, DIM = 500, 300, 24
TEMPERATURE = 0.15
BATCH = 128


def interactions():
    """Latent tastes give the clicks; popular items are shown more often."""
    u = rng.normal(size=(USERS, 6))
    v = rng.normal(size=(ITEMS, 6))
    pop = rng.normal(0, 0.6, ITEMS)
    train, held_out = [], []
    for user in range(USERS):
        score = 1.6 * (u[user] @ v.T) + pop + rng.gumbel(size=ITEMS)
        liked = np.argsort(-score)[:22]
        liked = rng.permutation(liked)
        train += [(user, i) for i in liked[:19]]
        held_out.append(liked[19:])
    return np.array(train, dtype="int32"), np.array(held_out)


class Tower(keras.Model):
    def __init__(self, n):
        super().__init__()
        self.table = layers.Embedding(n, DIM)
        self.mlp = layers.Dense(DIM, kernel_initializer="orthogonal")

    def call(self, ids):
        e = self.table(ids)
        return tf.math.l2_normalize(e + self.mlp(e), axis=-1)


train, held_out = interactions()
seen = np.zeros((USERS, ITEMS), dtype=bool)
seen[train[:, 0], train[:, 1]] = True
freq = np.bincount(train[:, 1], minlength=ITEMS).astype("float32")
log_q = tf.constant(np.log((freq + 1.0) / (freq + 1.0).sum()), tf.float32)
liked = tf.constant(seen)

user_tower, item_tower = Tower(USERS), Tower(ITEMS)
optimizer = keras.optimizers.Adagrad(0.15, initial_accumulator_value=0.1)


@tf.function
def step(users, items, hard):
    with tf.GradientTape() as tape:
        q, pos, neg = user_tower(users), item_tower(items), item_tower(hard)
        in_batch = tf.matmul(q, pos, transpose_b=True) / TEMPERATURE - tf.gather(log_q, items)[None]
        # another user's item may be liked by this user as well: not a negative
        clash = tf.gather(tf.gather(liked, users), items, axis=1)
        clash = tf.logical_and(clash, tf.logical_not(tf.eye(tf.shape(users)[0], dtype=tf.bool)))
        in_batch = tf.where(clash, -1e9, in_batch)
        soft = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.range(tf.shape(users)[0]), in_batch)
        gap = tf.reduce_sum(q * (neg - pos), axis=1)
        hinge = tf.nn.relu(gap + 0.1)
        loss = tf.reduce_mean(soft) + 0.5 * tf.reduce_mean(hinge)
    variables = user_tower.trainable_variables + item_tower.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


def score_matrix():
    return (user_tower(tf.range(USERS)) @ tf.transpose(item_tower(tf.range(ITEMS)))).numpy()


def mine(users):
    """A rather well-scored item that the user has not clicked; the very top is skipped."""
    scores = np.where(seen, -np.inf, score_matrix())
    top = np.argsort(-scores, axis=1)[:, 20:50]
    return top[users, rng.integers(0, top.shape[1], len(users))].astype("int32")


def recall_at(scores, k=20):
    scores = np.where(seen, -np.inf, scores)
    top = np.argsort(-scores, axis=1)[:, :k]
    return np.mean([np.isin(held_out[u], top[u]).mean() for u in range(USERS)])


for epoch in range(1, 13):
    order = rng.permutation(len(train))
    if epoch <= 3:
        hard = rng.integers(0, ITEMS, len(train)).astype("int32")
    else:
        hard = mine(train[:, 0])
    losses = []
    for s in range(0, len(order) - BATCH + 1, BATCH):
        pick = order[s:s + BATCH]
        losses.append(float(step(tf.constant(train[pick, 0]), tf.constant(train[pick, 1]),
                                 tf.constant(hard[pick]))))
    print(f"epoch {epoch:2d} loss {np.mean(losses):.4f} recall@20 {recall_at(score_matrix()):.4f}")

popular = np.tile(freq, (USERS, 1))
print(f"held-out recall@20: towers {recall_at(score_matrix()):.4f}, popularity {recall_at(popular):.4f}, "
      f"random {20 / (ITEMS - 19):.4f}")
