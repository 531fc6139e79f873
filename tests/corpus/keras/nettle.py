import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(11)
rng = np.random.default_rng(11)

N_USERS, N_ITEMS, DIM = 300, 200, 16
taste = rng.normal(size=(N_USERS, 5))
traits = rng.normal(size=(N_ITEMS, 5))
affinity = taste @ traits.T + 0.4 * rng.normal(size=(N_USERS, N_ITEMS))
liked = np.argsort(-affinity, axis=1)[:, :24]
for row in liked:
    rng.shuffle(row)
seen, held_out = liked[:, :20], liked[:, 20:]

users = np.repeat(np.arange(N_USERS), seen.shape[1])
positives = seen.reshape(-1)
is_seen = np.zeros((N_USERS, N_ITEMS), bool)
is_seen[users, positives] = True

user_table = keras.layers.Embedding(N_USERS, DIM, embeddings_initializer=keras.initializers.RandomNormal(stddev=0.1))
item_table = keras.layers.Embedding(N_ITEMS, DIM, embeddings_initializer=keras.initializers.RandomNormal(stddev=0.1))
user_table.build(())
item_table.build(())

user_optimizer = keras.optimizers.SGD(learning_rate=30.0)
item_optimizer = keras.optimizers.Adam(learning_rate=0.02)


def score(u, i):
    return tf.reduce_sum(user_table(u) * item_table(i), axis=-1)


def held_out_auc():
    scores = user_table.embeddings.numpy() @ item_table.embeddings.numpy().T
    aucs = []
    for u in range(N_USERS):
        good = scores[u, held_out[u]]
        mask = ~is_seen[u]
        mask[held_out[u]] = False
        aucs.append((good[:, None] > scores[u, mask][None, :]).mean())
    return float(np.mean(aucs))


MICRO, ACCUMULATE = 64, 4
variables = user_table.trainable_variables + item_table.trainable_variables
print(f"AUC before training {held_out_auc():.3f}")
for epoch in range(12):
    order = rng.permutation(len(users))
    negatives = rng.integers(0, N_ITEMS, len(users))
    clash = is_seen[users, negatives]
    negatives[clash] = rng.integers(0, N_ITEMS, clash.sum())
    sums, losses = [tf.zeros_like(v) for v in variables], []
    for n, start in enumerate(range(0, len(order) - MICRO + 1, MICRO), 1):
        pick = order[start:start + MICRO]
        with tf.GradientTape() as tape:
            margin = score(users[pick], positives[pick]) - score(users[pick], negatives[pick])
            loss = -tf.reduce_mean(tf.math.log_sigmoid(margin))
        grads = tape.gradient(loss, variables)
        sums = [s + tf.convert_to_tensor(g) / ACCUMULATE for s, g in zip(sums, grads)]
        losses.append(float(loss))
        if n % ACCUMULATE == 0:
            user_optimizer.apply_gradients([(sums[0], variables[0])])
            item_optimizer.apply_gradients([(sums[1], variables[1])])
            sums = [tf.zeros_like(v) for v in variables]
    print(f"epoch {epoch + 1:2d}  loss {np.mean(losses):.4f}  held-out AUC {held_out_auc():.3f}")
