"""Contrastive pretraining on unlabelled digits, then a small classifier from 200 labels."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers, ops
from sklearn.datasets import load_digits

keras.utils.set_random_seed(21)
TEMPERATURE = 0.2


def jitter(x):
    """Random shift by one pixel, contrast and noise for a batch of 8x8 images."""
    n = tf.shape(x)[0]
    padded = tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]])
    boxes = tf.random.uniform((n, 2), 0, 3, dtype=tf.int32)
    x = tf.map_fn(
        lambda p: p[0][p[1][0]:p[1][0] + 8, p[1][1]:p[1][1] + 8],
        (padded, boxes),
        fn_output_signature=tf.TensorSpec((8, 8, 1), tf.float32),
    )
    x = x * tf.random.uniform((n, 1, 1, 1), 0.7, 1.3)
    return x + tf.random.normal(tf.shape(x), stddev=0.08)


def make_encoder():
    return keras.Sequential([
        keras.Input((8, 8, 1)),
        layers.Conv2D(24, 3, padding="same", activation="relu"),
        layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
    ], name="encoder")


class PairLearner(keras.Model):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.projector = keras.Sequential([layers.Dense(48, activation="relu"), layers.Dense(32)])
        self.loss_mean = keras.metrics.Mean(name="loss")
        self.hit_mean = keras.metrics.Mean(name="hit")

    @property
    def metrics(self):
        return [self.loss_mean, self.hit_mean]

    def call(self, x, training=False):
        return ops.normalize(self.projector(self.encoder(x, training=training)), axis=-1)

    def train_step(self, x):
        a, b = jitter(x), jitter(x)
        n = tf.shape(x)[0]
        with tf.GradientTape() as tape:
            z = tf.concat([self(a, training=True), self(b, training=True)], axis=0)
            sim = tf.matmul(z, z, transpose_b=True) / TEMPERATURE
            sim -= 1e9 * tf.eye(2 * n)
            partner = tf.concat([tf.range(n, 2 * n), tf.range(0, n)], axis=0)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(partner, sim))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        hit = tf.reduce_mean(tf.cast(tf.argmax(sim, 1, output_type=tf.int32) == partner, tf.float32))
        self.loss_mean.update_state(loss)
        self.hit_mean.update_state(hit)
        return {m.name: m.result() for m in self.metrics}


def main():
    data = load_digits()
    x = (data.images[..., None] / 16.0).astype("float32")
    order = np.random.default_rng(2).permutation(len(x))
    x, y = x[order], data.target[order]
    x_train, y_train, x_test, y_test = x[:1400], y[:1400], x[1400:], y[1400:]

    encoder = make_encoder()
    learner = PairLearner(encoder)
    learner.compile(optimizer=keras.optimizers.Adam(2e-3))
    ds = tf.data.Dataset.from_tensor_slices(x_train).shuffle(1400).batch(128, drop_remainder=True)
    learner.fit(ds, epochs=30, verbose=2)

    encoder.trainable = False
    probe = keras.Sequential([keras.Input((8, 8, 1)), encoder, layers.BatchNormalization(), layers.Dense(10)])
    probe.compile(
        optimizer=keras.optimizers.Adam(1e-2),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    probe.fit(x_train[:200], y_train[:200], batch_size=20, epochs=30, verbose=0)
    print("accuracy from 200 labels: %.3f" % probe.evaluate(x_test, y_test, verbose=0)[1])


if __name__ == "__main__":
    main()
