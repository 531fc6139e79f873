import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

rng = np.random.default_rng(14)
tf.keras.utils.set_random_seed(14)

X, y = load_digits(return_X_y=True)
X = (X / 16.0).astype("float32")
order = rng.permutation(len(X))
X, y = X[order], y[order]
X_fit, y_fit = X[:1200], y[:1200]
X_new, y_new = X[1200:], y[1200:]
rows_of = [np.flatnonzero(y_fit == c) for c in range(10)]
PER_CLASS = 6


def batches(n):
    for _ in range(n):
        idx = np.concatenate([rng.choice(r, PER_CLASS, replace=False) for r in rows_of])
        yield X_fit[idx], y_fit[idx]


embedder = tf.keras.Sequential(
    [
        tf.keras.layers.Input((64,)),
        tf.keras.layers.Dense(96, activation="relu"),
        tf.keras.layers.Dense(3),
        tf.keras.layers.UnitNormalization(),
    ]
)
opt = tf.keras.optimizers.SGD(1e-3, momentum=0.9)


def neighbour_loss(e, labels, temperature=0.2):
    sim = tf.matmul(e, e, transpose_b=True) / temperature - 1e9 * tf.eye(tf.shape(labels)[0])
    same = tf.cast(labels[:, None] == labels[None, :], tf.float32) - tf.eye(tf.shape(labels)[0])
    p_friend = tf.reduce_sum(tf.nn.softmax(sim, axis=1) * same, axis=1)
    return -tf.reduce_sum(tf.math.log(p_friend + 1e-9))


@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        loss = neighbour_loss(embedder(xb, training=True), yb)
    g = tape.gradient(loss, embedder.trainable_variables)
    opt.apply_gradients(zip(g, embedder.trainable_variables))
    return loss


def neighbour_accuracy(k=5):
    knn = KNeighborsClassifier(k).fit(embedder(X_fit).numpy(), y_fit)
    return knn.score(embedder(X_new).numpy(), y_new)


print("5-NN accuracy in three dimensions, before:", round(neighbour_accuracy(), 3))
for epoch in range(8):
    losses = [float(step(xb, yb)) for xb, yb in batches(60)]
    print(f"epoch {epoch}: summed neighbour loss {np.mean(losses):.3f}")
print("5-NN accuracy in three dimensions, after:", round(neighbour_accuracy(), 3))
