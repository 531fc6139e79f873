"""Digit embeddings: triplet loss over each batch's hardest negatives, Lion optimizer.

Half of the scans are kept aside; the embedding is judged on them by
nearest-neighbour accuracy with a single labelled example a class.
"""
import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits

keras.utils.set_random_seed(27)
rng = np.random.default_rng(27)
CLASSES = range(10)
PER_CLASS, MARGIN, STEPS = 10, 0.3, 500

digits = load_digits()
X = (digits.images / 16).astype("float32")[..., None]
by_class = {k: rng.permutation(np.flatnonzero(digits.target == k)) for k in CLASSES}
train_pool = {k: ids[:len(ids) // 2] for k, ids in by_class.items()}
test_pool = {k: ids[len(ids) // 2:] for k, ids in by_class.items()}


def jitter(batch):
    """Small horizontal shift and varying ink."""
    out = np.zeros_like(batch)
    for i, img in enumerate(batch):
        out[i] = np.roll(img, rng.integers(-1, 2), axis=1)
    return out * rng.uniform(0.8, 1.2, (len(batch), 1, 1, 1)).astype("float32")


def sample():
    ids = np.concatenate([rng.choice(train_pool[k], PER_CLASS, replace=False) for k in CLASSES])
    return jitter(X[ids]), digits.target[ids].astype("int32")


encoder = keras.Sequential([
    keras.Input((8, 8, 1)),
    layers.Conv2D(24, 3, activation="relu", padding="same"),
    layers.MaxPooling2D(),
    layers.Conv2D(48, 3, activation="relu", padding="same"),
    layers.Flatten(),
    layers.Dense(32),
    layers.UnitNormalization(axis=-1),
])
optimizer = keras.optimizers.Lion(2e-4, weight_decay=1e-2)
optimizer.build(encoder.trainable_variables)


def distances(a, b):
    return 2.0 - 2.0 * tf.matmul(a, b, transpose_b=True)


@tf.function
def step(x, y, hard):
    with tf.GradientTape() as tape:
        z = encoder(x, training=True)
        d = distances(z, z)
        same = tf.equal(y[:, None], y[None])
        mean_neg = tf.reduce_sum(tf.where(same, 0.0, d), 1) / tf.reduce_sum(tf.cast(~same, tf.float32), 1)
        near_neg = tf.reduce_min(tf.where(same, 9.0, d), axis=1)
        neg = hard * near_neg + (1.0 - hard) * mean_neg
        gaps = tf.nn.relu(d - neg[:, None] + MARGIN)
        loss = tf.reduce_sum(tf.where(same, gaps, 0.0)) / tf.reduce_sum(tf.cast(same, tf.float32))
    grads = tape.gradient(loss, encoder.trainable_variables)
    optimizer.apply_gradients(zip(grads, encoder.trainable_variables))
    return loss


def one_shot(embed, trials=40):
    draw, hits = np.random.default_rng(0), []
    for _ in range(trials):
        for_ref, for_query = [], []
        for k in CLASSES:
            order = draw.permutation(test_pool[k])
            for_ref += list(order[:1])
            for_query += list(order[1:41])
        d = distances(embed[for_query], embed[for_ref]).numpy()
        near = digits.target[for_ref][d.argmin(1)]
        hits.append(np.mean(near == digits.target[for_query]))
    return float(np.mean(hits))


before = one_shot(encoder.predict(X, verbose=0))
for i in range(STEPS):
    x, y = sample()
    loss = step(x, y, tf.constant(min(1.0, i / 150), tf.float32))
    if i % 100 == 0:
        print(f"step {i:3d}  loss {float(loss):.4f}")
print(f"one-shot accuracy on held-out digits {one_shot(encoder.predict(X, verbose=0)):.3f}"
      f"  (untrained encoder {before:.3f}, chance {1 / len(CLASSES):.3f})")
