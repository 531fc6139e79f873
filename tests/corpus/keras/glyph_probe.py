import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits

keras.utils.set_random_seed(42)
digits = load_digits()
X = (digits.images[..., None] / 16.0).astype("float32")
y = digits.target
perm = np.random.RandomState(0).permutation(len(X))
test, labelled, pool = perm[:400], perm[400:500], perm[400:]

view = keras.Sequential([
    layers.RandomTranslation(0.13, 0.13, fill_mode="constant"),
    layers.RandomRotation(0.04, fill_mode="constant"),
    layers.GaussianNoise(0.1),
])
backbone = keras.Sequential([
    keras.Input((8, 8, 1)),
    layers.Conv2D(32, 3, padding="same", activation="relu"),
    layers.Conv2D(64, 3, padding="same", activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(64, 3, padding="same", activation="relu"),
    layers.Flatten(),
    layers.Dense(64),
], name="backbone")
projector = keras.Sequential([keras.Input((64,)), layers.Dense(64, activation="relu"), layers.Dense(32)])


class Contrast(keras.Model):
    """Two views of a picture should find each other among all others of the batch."""

    def __init__(self, temperature=0.2):
        super().__init__()
        self.backbone, self.projector, self.temperature = backbone, projector, temperature
        self.loss_m = keras.metrics.Mean(name="nt_xent")
        self.acc_m = keras.metrics.SparseCategoricalAccuracy(name="pair_acc")

    @property
    def metrics(self):
        return [self.loss_m, self.acc_m]

    def call(self, x, training=False):
        return self.projector(self.backbone(x, training=training), training=training)

    def train_step(self, x):
        n = tf.shape(x)[0]
        both = tf.concat([view(x, training=True), view(x, training=True)], axis=0)
        with tf.GradientTape() as tape:
            z = tf.math.l2_normalize(self(both, training=True), axis=1)
            sim = tf.matmul(z, z, transpose_b=True) / self.temperature
            sim -= 1e9 * tf.eye(2 * n)
            target = tf.concat([tf.range(n, 2 * n), tf.range(n)], axis=0)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=sim))
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        self.loss_m.update_state(loss)
        self.acc_m.update_state(target, sim)
        return {m.name: m.result() for m in self.metrics}


def linear_probe(tag):
    backbone.trainable = False
    head = keras.Sequential([keras.Input((8, 8, 1)), backbone, layers.LayerNormalization(),
                             layers.Dense(10, activation="softmax")])
    head.compile(keras.optimizers.Adam(1e-2), "sparse_categorical_crossentropy", metrics=["accuracy"])
    head.fit(X[labelled], y[labelled], batch_size=25, epochs=30, verbose=0)
    print(f"{tag}: test accuracy with {len(labelled)} labels = {head.evaluate(X[test], y[test], verbose=0)[1]:.3f}")
    backbone.trainable = True


linear_probe("random backbone")
stream = tf.data.Dataset.from_tensor_slices(X[pool]).shuffle(len(pool)).batch(128, drop_remainder=True)
ssl = Contrast()
ssl.compile(optimizer=keras.optimizers.Adam(2e-3))
ssl.fit(stream, epochs=25, verbose=2)
linear_probe("contrastive backbone")
