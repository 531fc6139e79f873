"""Two-tower recommender; tables and tower have their own optimizers, gradients are summed over micro-batches."""
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(30)
rng = np.random.default_rng(30)

USERS, SONGS, DIM, MICRO, ACCUM = 300, 200, 12, 64, 4
taste, style = rng.normal(size=(USERS, 4)), rng.normal(size=(SONGS, 4))
pairs = np.stack([rng.integers(0, USERS, 30000), rng.integers(0, SONGS, 30000)], 1)
affinity = (taste[pairs[:, 0]] * style[pairs[:, 1]]).sum(1)
liked = (affinity + rng.normal(0, 0.5, len(pairs)) > 0.5).astype("float32")
cut = 26000


class Recommender(tf.keras.Model):
    def __init__(self):
        super().__init__()
        init = tf.keras.initializers.RandomNormal(stddev=0.3)
        self.users = tf.keras.layers.Embedding(USERS, DIM, embeddings_initializer=init)
        self.songs = tf.keras.layers.Embedding(SONGS, DIM, embeddings_initializer=init)
        self.tower = tf.keras.Sequential([
            tf.keras.layers.Dense(24, activation="relu"), tf.keras.layers.Dense(1)])

    def call(self, p):
        u, s = self.users(p[:, 0]), self.songs(p[:, 1])
        return (tf.reduce_sum(u * s, -1, keepdims=True) + self.tower(tf.concat([u, s], -1)))[:, 0]


model = Recommender()
model(pairs[:2])
table_vars = model.users.trainable_variables + model.songs.trainable_variables
tower_vars = model.tower.trainable_variables
all_vars = table_vars + tower_vars
table_opt = tf.keras.optimizers.Adagrad(0.1, initial_accumulator_value=1e-6)
tower_opt = tf.keras.optimizers.Adam(2e-3)
table_opt.build(table_vars)
tower_opt.build(tower_vars)
buffers = [tf.Variable(tf.zeros_like(v), trainable=False) for v in all_vars]


@tf.function
def micro_step(p, y):
    with tf.GradientTape() as tape:
        logits = model(p, training=True)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))
        scaled = loss / ACCUM
    for b, g in zip(buffers, tape.gradient(scaled, all_vars)):
        b.assign_add(tf.convert_to_tensor(g))
    return loss


@tf.function
def flush():
    k = len(table_vars)
    table_opt.apply_gradients(zip([b.value() for b in buffers[:k]], table_vars))
    tower_opt.apply_gradients(zip([b.value() for b in buffers[k:]], tower_vars))
    for b in buffers:
        b.assign(tf.zeros_like(b))


data = tf.data.Dataset.from_tensor_slices((pairs[:cut], liked[:cut]))
data = data.shuffle(cut, seed=2).batch(MICRO, drop_remainder=True)
for epoch in range(6):
    losses = []
    for i, (p, y) in enumerate(data):
        losses.append(float(micro_step(p, y)))
        if (i + 1) % ACCUM == 0:
            flush()
    flush()
    held = model(pairs[cut:]).numpy() > 0
    print(f"epoch {epoch} loss {np.mean(losses):.3f} held-out accuracy {np.mean(held == liked[cut:]):.3f}")
print("share of likes in held-out pairs:", liked[cut:].mean())
