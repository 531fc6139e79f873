import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(14)


@tf.custom_gradient
def reverse(x):
    return tf.identity(x), lambda dy: -0.3 * dy


class Reverse(layers.Layer):
    def call(self, x):
        return reverse(x)


def formants(n, shift, seed):
    rng = np.random.default_rng(seed)
    vowel = rng.integers(0, 5, n)
    centre = np.random.default_rng(0).normal(0, 2.0, (5, 10))
    x = centre[vowel] + rng.normal(0, 0.8, (n, 10))
    accent = np.random.default_rng(1).normal(0, 1, 10)
    return (x + shift * accent).astype("float32"), vowel.astype("int32")


xs, ys = formants(2000, 0.0, 5)
xt, yt = formants(2000, 1.5, 6)

body = keras.Sequential([layers.Input((10,)), layers.Dense(48, activation="relu"), layers.Dense(24, activation="relu")])
vowels = keras.Sequential([layers.Input((24,)), layers.Dense(5)])
accent = keras.Sequential([layers.Input((24,)), Reverse(), layers.Dense(24, activation="relu"), layers.Dense(1)])
every = body.trainable_variables + vowels.trainable_variables + accent.trainable_variables

ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
bce = keras.losses.BinaryCrossentropy(from_logits=True, label_smoothing=0.1)
optimizer = keras.optimizers.Adam(1e-3)


@tf.function
def step(a, ya, b):
    with tf.GradientTape() as tape:
        z = body(tf.concat([a, b], 0), training=True)
        n = tf.shape(a)[0]
        task = ce(ya, vowels(z[:n], training=True))
        which = tf.concat([tf.zeros((n, 1)), tf.ones((tf.shape(b)[0], 1))], 0)
        domain = bce(which, accent(z, training=True))
        loss = task + domain
    optimizer.apply_gradients(zip(tape.gradient(loss, every), every))
    return task, domain


source = tf.data.Dataset.from_tensor_slices((xs, ys)).shuffle(2000, seed=3).batch(64)
target = tf.data.Dataset.from_tensor_slices(xt).shuffle(2000, seed=4).batch(64)
for epoch in range(20):
    logs = [[float(v) for v in step(a, ya, b)] for (a, ya), b in zip(source, target)]
    acc = [np.mean(np.argmax(vowels(body(x)), 1) == y) for x, y in ((xs, ys), (xt, yt))]
    print(f"{epoch:2d} task {np.mean(logs, 0)[0]:.3f} domain {np.mean(logs, 0)[1]:.3f} source {acc[0]:.3f} target {acc[1]:.3f}")
