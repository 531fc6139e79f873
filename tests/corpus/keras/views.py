"""Self-supervised features for digit images from two noisy views."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(17)
DIM = 32


def encoder():
    return keras.Sequential(
        [
            keras.Input(shape=(8, 8, 1)),
            layers.Conv2D(24, 3, padding="same", activation="relu"),
            layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
            layers.Flatten(),
            layers.Dense(64),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.Dense(DIM),
            layers.BatchNormalization(center=False, scale=False),
        ]
    )


def predictor():
    return keras.Sequential(
        [
            keras.Input(shape=(DIM,)),
            layers.Dense(16, use_bias=False),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.Dense(DIM),
        ]
    )


def view(x):
    padded = tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]])
    x = tf.image.random_crop(padded, tf.shape(x))
    keep = tf.cast(tf.random.uniform(tf.shape(x)) > 0.15, tf.float32)
    return x * keep + 0.1 * tf.random.normal(tf.shape(x))


def similarity(p, z):
    p = tf.math.l2_normalize(p, axis=1)
    z = tf.math.l2_normalize(tf.stop_gradient(z), axis=1)
    return -tf.reduce_mean(tf.reduce_sum(p * z, axis=1))


f, h = encoder(), predictor()
opt_f = keras.optimizers.Adam(1e-3)
opt_h = keras.optimizers.Adam(3e-3)


@tf.function
def step(batch):
    with tf.GradientTape(persistent=True) as tape:
        z1, z2 = f(view(batch), training=True), f(view(batch), training=True)
        p1, p2 = h(z1, training=True), h(z2, training=True)
        loss = 0.5 * similarity(p1, z2) + 0.5 * similarity(p2, z1)
    opt_f.apply_gradients(zip(tape.gradient(loss, f.trainable_variables), f.trainable_variables))
    opt_h.apply_gradients(zip(tape.gradient(loss, h.trainable_variables), h.trainable_variables))
    del tape
    spread = tf.reduce_mean(tf.math.reduce_std(tf.math.l2_normalize(z1, axis=1), axis=0))
    return loss, spread


x, y = load_digits(return_X_y=True)
x = (x / 16.0).astype("float32").reshape(-1, 8, 8, 1)
x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.3, stratify=y, random_state=0)
ds = tf.data.Dataset.from_tensor_slices(x_train).shuffle(2000, seed=1).batch(128, drop_remainder=True)

for epoch in range(30):
    out = np.array([[float(v) for v in step(b)] for b in ds])
    if epoch % 5 == 0:
        print(f"epoch {epoch:2d}  loss {out[:, 0].mean():.4f}  spread {out[:, 1].mean():.4f}")

probe = LogisticRegression(max_iter=3000)
probe.fit(f(x_train, training=False).numpy(), y_train)
acc = probe.score(f(x_test, training=False).numpy(), y_test)
print(f"linear probe accuracy {acc:.3f}  (majority {np.bincount(y_test).max() / len(y_test):.3f})")
