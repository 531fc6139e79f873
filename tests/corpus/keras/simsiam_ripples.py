"""SimSiam on one-dimensional ripple patches, then a linear probe on the frozen encoder."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

SEED, LENGTH, KINDS, DIM = 17, 64, 6, 32


def ripples(n, rng):
    t = np.linspace(0, 1, LENGTH)
    y = rng.integers(0, KINDS, n)
    f1, f2 = 3 + 2 * (y % 3), np.where(y < 3, 4, 13)
    ph = rng.uniform(0, 2 * np.pi, (2, n, 1))
    x = np.sin(2 * np.pi * f1[:, None] * t + ph[0]) + 0.7 * np.sin(2 * np.pi * f2[:, None] * t + ph[1])
    return (x + rng.normal(0, 0.3, x.shape)).astype("float32"), y.astype("int32")


def view(x):
    b = tf.shape(x)[0]
    x = tf.roll(x, tf.random.uniform((), 0, LENGTH, tf.int32), axis=1)
    x = x * tf.random.uniform((b, 1), 0.7, 1.3)
    return x + tf.random.normal(tf.shape(x), stddev=0.2)


def make_encoder():
    inp = keras.Input((LENGTH,))
    h = layers.Reshape((LENGTH, 1))(inp)
    for filters, stride in [(32, 2), (32, 2)]:
        h = layers.Conv1D(filters, 7, strides=stride, padding="same", use_bias=False)(h)
        h = layers.ReLU()(layers.BatchNormalization()(h))
    h = layers.GlobalAveragePooling1D()(h)
    h = layers.Dense(DIM, use_bias=False)(h)
    return keras.Model(inp, layers.BatchNormalization(scale=False, center=False)(h), name="encoder")


def negative_cosine(p, z):
    z = tf.stop_gradient(z)
    return -tf.reduce_mean(tf.reduce_sum(tf.nn.l2_normalize(p, 1) * tf.nn.l2_normalize(z, 1), axis=1))


class SimSiam(keras.Model):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.predictor = keras.Sequential([layers.Dense(16, use_bias=False), layers.BatchNormalization(), layers.ReLU(),
                                           layers.Dense(DIM)])
        self.track = keras.metrics.Mean(name="neg_cos")

    def call(self, x, training=False):
        return self.predictor(self.encoder(x, training=training), training=training)

    def train_step(self, x):
        a, b = view(x), view(x)
        with tf.GradientTape() as tape:
            za, zb = self.encoder(a, training=True), self.encoder(b, training=True)
            pa, pb = self.predictor(za, training=True), self.predictor(zb, training=True)
            loss = 0.5 * negative_cosine(pa, zb) + 0.5 * negative_cosine(pb, za)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.track.update_state(loss)
        return {"neg_cos": self.track.result()}


def probe(encoder, x, y, x_test, y_test):
    encoder.trainable = False
    model = keras.Sequential([encoder, layers.Dense(KINDS)])
    model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    model.fit(x, y, epochs=12, batch_size=50, verbose=0)
    return model.evaluate(x_test, y_test, verbose=0)[1]


if __name__ == "__main__":
    keras.utils.set_random_seed(SEED)
    rng = np.random.default_rng(SEED)
    pool, _ = ripples(2000, rng)
    x, y = ripples(300, rng)
    x_test, y_test = ripples(800, rng)
    encoder = make_encoder()
    model = SimSiam(encoder)
    model.compile(optimizer=keras.optimizers.SGD(0.06, momentum=0.9, weight_decay=1e-4))
    ds = tf.data.Dataset.from_tensor_slices(pool).shuffle(2000).batch(100)
    hist = model.fit(ds, epochs=15, verbose=0).history
    print("negative cosine", [round(v, 3) for v in hist["neg_cos"]])
    print(f"spread of the normalised embedding {np.std(tf.nn.l2_normalize(encoder(x_test), 1), 0).mean():.3f} (1/sqrt(d) = {DIM ** -0.5:.3f})")
    print(f"probe accuracy {probe(encoder, x, y, x_test, y_test):.3f}  (chance {1 / KINDS:.3f})")
