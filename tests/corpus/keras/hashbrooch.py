"""32-bit hash codes for museum brooches: same maker -> same code. Codes are binarised in the forward pass."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)
MAKERS, DIM, BITS = 12, 48, 32

style = rng.normal(0, 1, (MAKERS, 6))
mix = rng.normal(0, 1, (6, DIM))
nuisance = rng.normal(0, 1, (10, DIM))
maker = rng.integers(0, MAKERS, 2000)
feats = np.tanh(style[maker] @ mix * 0.5) + rng.normal(0, 0.9, (2000, 10)) @ nuisance * 0.5
feats = ((feats - feats.mean(0)) / feats.std(0)).astype("float32")


class Binarise(keras.layers.Layer):
    def call(self, h):
        hard = tf.where(h >= 0, 1.0, -1.0)
        return tf.stop_gradient(h + hard - h)


class Hasher(keras.Model):
    def __init__(self):
        super().__init__()
        self.trunk = keras.Sequential([keras.layers.Dense(96, activation="relu"),
                                       keras.layers.Dense(BITS, activation="tanh"), Binarise()])
        self.head = keras.layers.Dense(MAKERS)
        self.ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.mean_loss = keras.metrics.Mean(name="loss")
        self.acc = keras.metrics.SparseCategoricalAccuracy(name="acc")

    @property
    def metrics(self):
        return [self.mean_loss, self.acc]

    def call(self, x):
        return self.head(self.trunk(x))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            codes = self.trunk(x, training=True)
            logits = self.head(codes)
            balance = tf.reduce_mean(tf.square(tf.reduce_mean(codes, axis=0)))
            loss = self.ce(y, logits) + 0.1 * balance
        variables = self.trainable_variables
        grads = tape.gradient(loss, variables)
        self.optimizer.apply_gradients((g, v) for g, v in zip(grads, variables) if g is not None)
        self.mean_loss.update_state(loss)
        self.acc.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}


def precision_at_10(db, db_y, q, q_y):
    dist = -(q @ db.T)
    near = np.argsort(dist, axis=1, kind="stable")[:, :10]
    return float((db_y[near] == q_y[:, None]).mean())


model = Hasher()
model.compile(optimizer=keras.optimizers.Adam(2e-3))
h = model.fit(feats[:1500], maker[:1500], epochs=20, batch_size=64, verbose=0)
print("loss", [round(v, 3) for v in h.history["loss"][::4]], "acc", [round(v, 3) for v in h.history["acc"][::4]])
db, q = model.trunk(feats[:1500]).numpy(), model.trunk(feats[1500:]).numpy()
print("test accuracy", float((model(feats[1500:]).numpy().argmax(1) == maker[1500:]).mean()))
print("precision@10", round(precision_at_10(db, maker[:1500], q, maker[1500:]), 3))
