import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(8)
rng = np.random.default_rng(8)

WALKERS, HELD_OUT, STEPS = 60, 60, 64


def record(person, n):
    """n stride cycles of one walker: three accelerometer axes."""
    t = np.linspace(0, 2 * np.pi, STEPS)
    out = []
    for _ in range(n):
        phase = rng.uniform(0, 2 * np.pi)
        speed = rng.normal(1.0, 0.03)
        axes = []
        for a in range(3):
            wave = sum(person[a, k, 0] * np.sin((k + 1) * (speed * t + phase) + person[a, k, 1]) for k in range(4))
            axes.append(wave * rng.uniform(0.8, 1.2))
        out.append(np.stack(axes, 1) + rng.normal(0, 0.6, (STEPS, 3)))
    return np.array(out, dtype="float32")


human = np.stack([rng.normal(0, 0.8, (3, 4)), rng.uniform(0, 2 * np.pi, (3, 4))], -1)
people = human + rng.normal(0, 1, (WALKERS + HELD_OUT, 3, 4, 2)) * np.array([0.3, 0.6])
train_x = np.stack([record(p, 24) for p in people[:WALKERS]])
test_x = np.stack([record(p, 12) for p in people[WALKERS:]])

encoder = keras.Sequential([
    keras.Input((STEPS, 3)),
    layers.Conv1D(32, 7, padding="same", activation="relu"),
    layers.MaxPooling1D(2),
    layers.Conv1D(64, 5, padding="same", activation="relu"),
    layers.GlobalAveragePooling1D(),
    layers.Dense(64, activation="relu"),
    layers.Dense(24),
    layers.UnitNormalization(),
])


def pairwise(e):
    sq = 2.0 - 2.0 * tf.matmul(e, e, transpose_b=True)
    return tf.sqrt(tf.maximum(sq, 1e-8))


def batch_triplet_loss(e, who, margin=0.3):
    d = pairwise(e)
    same = tf.equal(who[:, None], who[None, :])
    far_pos = tf.reduce_max(tf.where(same, d, 0.0), axis=1)
    neg = tf.reduce_min(tf.where(same, 10.0, d), axis=1)
    return tf.reduce_mean(tf.maximum(far_pos - neg + margin, 0.0))


def pk_batch(p=12, k=5):
    who = rng.choice(WALKERS, p, replace=False)
    x = np.concatenate([train_x[w, rng.choice(24, k, replace=False)] for w in who])
    return tf.constant(x), tf.constant(np.repeat(who, k))


def rank_one():
    flat = test_x.reshape(-1, STEPS, 3)
    who = np.repeat(np.arange(HELD_OUT), test_x.shape[1])
    d = pairwise(encoder(flat)).numpy()
    np.fill_diagonal(d, np.inf)
    return (who[d.argmin(1)] == who).mean()


opt = keras.optimizers.Adam(1.5e-3)


@tf.function
def step(x, who):
    with tf.GradientTape() as tape:
        loss = batch_triplet_loss(encoder(x, training=True), who)
    g = tape.gradient(loss, encoder.trainable_variables)
    opt.apply_gradients(zip(g, encoder.trainable_variables))
    return loss


print(f"before training: rank-1 on unseen walkers {rank_one():.3f}")
running = []
for i in range(1, 1201):
    running.append(float(step(*pk_batch())))
    if i % 200 == 0:
        print(f"step {i:4d}  triplet {np.mean(running[-200:]):.4f}  rank-1 {rank_one():.3f}")
