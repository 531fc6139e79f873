# Embeddings for short melodies: triplet training with the hardest negative that is still farther
# than the positive, after a warm-up with random ones; the anchor of the pair is embedded by a slow copy.
import keras
import numpy as np
import tensorflow as tf
from keras import layers

LENGTH, N_TRAIN, N_TEST = 40, 120, 60
MARGIN, EMA = 0.25, 0.98


def compose(rng):
    steps = rng.choice([-4, -3, -2, -1, 0, 1, 2, 3, 4], 24)
    return 60 + np.cumsum(steps) * 0.8


def perform(tune, rng):
    """One rendition: other key, other tempo, rubato, a few wrong notes, random entry."""
    tempo = rng.uniform(0.75, 1.3)
    pos = np.cumsum(np.maximum(0.2, rng.normal(1, 0.25, LENGTH))) * tempo * 0.45 + rng.uniform(0, 2)
    line = np.interp(pos, np.arange(len(tune)), tune)
    line += rng.normal(0, 3) + rng.normal(0, 0.4, LENGTH)
    wrong = rng.random(LENGTH) < 0.06
    line[wrong] += rng.normal(0, 4, wrong.sum())
    return (line - line.mean()) / 6.0


def renditions(tunes, per, rng):
    x = np.stack([perform(t, rng) for t in tunes for _ in range(per)]).astype("float32")
    return x.reshape(len(tunes), per, LENGTH, 1)


def tower():
    net = keras.Sequential([
        keras.Input((LENGTH, 1)),
        layers.Conv1D(32, 5, padding="same", activation="relu"),
        layers.Conv1D(48, 5, strides=2, padding="same", activation="relu"),
        layers.Conv1D(64, 5, strides=2, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(32),
        layers.UnitNormalization(),
    ])
    return net


def retrieval(net, x):
    """Share of queries whose nearest other rendition belongs to the same melody."""
    n, per = x.shape[:2]
    z = net.predict(x.reshape(-1, LENGTH, 1), batch_size=512, verbose=0)
    sim = z @ z.T
    np.fill_diagonal(sim, -np.inf)
    owner = np.repeat(np.arange(n), per)
    return float(np.mean(owner[sim.argmax(1)] == owner))


keras.utils.set_random_seed(7)
rng = np.random.default_rng(7)
tunes = [compose(rng) for _ in range(N_TRAIN + N_TEST)]
train = renditions(tunes[:N_TRAIN], 24, rng)
test = renditions(tunes[N_TRAIN:], 8, rng)

fast, slow = tower(), tower()
slow.set_weights(fast.get_weights())
slow.trainable = False
opt = keras.optimizers.Adam(1.5e-3)
hard = tf.Variable(False)


@tf.function
def step(anchor, positive):
    reference = tf.stop_gradient(slow(anchor))
    with tf.GradientTape() as tape:
        z = fast(positive, training=True)
        sim = tf.matmul(reference, z, transpose_b=True)
        n = tf.shape(sim)[0]
        good = tf.linalg.diag_part(sim)
        others = tf.linalg.set_diag(sim, tf.fill([n], -2.0))
        hardest = tf.reduce_max(tf.where(others < good[:, None], others, -1.0), axis=1)
        chance = tf.linalg.diag_part(tf.roll(sim, 1, axis=1))
        bad = tf.where(hard, hardest, chance)
        per_item = tf.nn.relu(MARGIN + bad - good)
        loss = tf.reduce_mean(per_item)
    grads = tape.gradient(loss, fast.trainable_variables)
    opt.apply_gradients(zip(grads, fast.trainable_variables))
    for s, f in zip(slow.weights, fast.weights):
        s.assign(EMA * s + (1 - EMA) * f)
    return loss, tf.reduce_mean(tf.cast(per_item > 0, tf.float32))


print("untrained tower: top-1 %.3f" % retrieval(fast, test))
for it in range(1, 1201):
    if it == 200:
        hard.assign(True)                # the loss jumps here: harder questions, same tower
    rows = rng.choice(N_TRAIN, 48, replace=False)
    a, p = rng.integers(0, 24, 48), rng.integers(0, 23, 48)
    p = np.where(p >= a, p + 1, p)
    loss, active = step(tf.constant(train[rows, a]), tf.constant(train[rows, p]))
    if it % 200 == 0 or it == 199:
        print("step %4d  loss %.4f  active triplets %.2f  top-1 on new melodies %.3f"
              % (it, float(loss), float(active), retrieval(fast, test)))
raw = test.reshape(len(test), -1, LENGTH)
flat = raw.reshape(-1, LENGTH)
flat = flat / np.linalg.norm(flat, axis=1, keepdims=True)
sim = flat @ flat.T - 2 * np.eye(len(flat))
owner = np.repeat(np.arange(len(test)), test.shape[1])
print("new melodies: top-1 %.3f, raw contour %.3f, chance %.3f"
      % (retrieval(fast, test), np.mean(owner[sim.argmax(1)] == owner), 7 / (len(flat) - 1)))
