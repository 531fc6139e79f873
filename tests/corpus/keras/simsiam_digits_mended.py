"""Self-supervised digits (SimSiam) followed by a linear probe."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

keras.utils.set_random_seed(13)
images, labels = load_digits(return_X_y=True)
shuffled = np.random.permutation(len(images))
images, labels = images[shuffled], labels[shuffled]
images = (images / 16.0).reshape(-1, 8, 8, 1).astype("float32")


def view(x):
    n = tf.shape(x)[0]
    x = tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]])
    x = tf.image.random_crop(x, tf.stack([n, 8, 8, 1]))
    x = x * tf.random.uniform([n, 1, 1, 1], 0.8, 1.1)
    return x + tf.random.normal(tf.shape(x), stddev=0.08)


def negative_cosine(p, z):
    p = tf.math.l2_normalize(p, axis=1)
    z = tf.math.l2_normalize(z, axis=1)
    return -tf.reduce_mean(tf.reduce_sum(p * z, axis=1))


class SimSiam(keras.Model):
    def __init__(self, encoder, predictor):
        super().__init__()
        self.encoder = encoder
        self.predictor = predictor
        self.loss_mean = keras.metrics.Mean(name="loss")
        self.spread = keras.metrics.Mean(name="z_std")

    def train_step(self, x):
        a, b = view(x), view(x)
        with tf.GradientTape() as tape:
            z1, z2 = self.encoder(a, training=True), self.encoder(b, training=True)
            p1, p2 = self.predictor(z1, training=True), self.predictor(z2, training=True)
            loss = 0.5 * negative_cosine(p1, tf.stop_gradient(z2)) + 0.5 * negative_cosine(p2, tf.stop_gradient(z1))
        variables = self.encoder.trainable_variables + self.predictor.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        self.loss_mean.update_state(loss)
        self.spread.update_state(tf.reduce_mean(tf.math.reduce_std(tf.math.l2_normalize(z1, axis=1), axis=0)))
        return {"loss": self.loss_mean.result(), "z_std": self.spread.result()}


encoder = keras.Sequential([
    keras.Input((8, 8, 1)),
    layers.Conv2D(16, 3, activation="relu"),
    layers.Conv2D(32, 3, strides=2, activation="relu"),
    layers.Flatten(),
    layers.Dense(64, use_bias=False), layers.BatchNormalization(), layers.ReLU(),
    layers.Dense(32),
])
predictor = keras.Sequential([
    keras.Input((32,)),
    layers.Dense(16, use_bias=False), layers.BatchNormalization(), layers.ReLU(),
    layers.Dense(32),
])
model = SimSiam(encoder, predictor)
model.compile(optimizer=keras.optimizers.SGD(0.1, momentum=0.9))
model.fit(images[:1300], batch_size=100, epochs=35, verbose=2)

z = encoder.predict(images, verbose=0)
z /= np.linalg.norm(z, axis=1, keepdims=True)
probe = LogisticRegression(max_iter=300).fit(z[:1300], labels[:1300])
print("spread of embeddings:", z.std(axis=0).mean(), " linear probe accuracy:", probe.score(z[1300:], labels[1300:]))
