"""Ship engine faults: labels from harbour A only, harbour B unlabelled. Domain-adversarial training with gradient reversal."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(9)
rng = np.random.default_rng(9)
FAULTS, D = 4, 30
proto = rng.normal(0, 1, (FAULTS, D)); proto[:, 20:] = 0
shift = np.zeros(D); shift[20:] = 2.0


def record(n, harbour):
    y = rng.integers(0, FAULTS, n)
    return (proto[y] + harbour * shift + rng.normal(0, 0.8, (n, D))).astype("float32"), y.astype("int32")


xa, ya = record(1200, 0)
xb, yb = record(1200, 1)


@tf.custom_gradient
def reverse(h):
    return tf.identity(h), lambda g: -g


class Dann(keras.Model):
    def __init__(self):
        super().__init__()
        self.features = keras.Sequential([keras.layers.Dense(48, activation="relu"), keras.layers.Dense(24, activation="relu")])
        self.fault = keras.layers.Dense(FAULTS)
        self.harbour = keras.Sequential([keras.layers.Dense(24, activation="relu"), keras.layers.Dense(1)])
        self.tracks = [keras.metrics.Mean(name="fault_loss"), keras.metrics.Mean(name="harbour_loss"),
                       keras.metrics.BinaryAccuracy(name="harbour_acc", threshold=0.0)]

    @property
    def metrics(self):
        return self.tracks

    def call(self, x):
        return self.fault(self.features(x))

    def train_step(self, data):
        a, y, b = data[0]
        with tf.GradientTape() as tape:
            h = self.features(tf.concat([a, b], 0), training=True)
            n = tf.shape(a)[0]
            f_loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, self.fault(h[:n])))
            side = tf.concat([tf.zeros((n, 1)), tf.ones((tf.shape(b)[0], 1))], 0)
            s = self.harbour(reverse(h))
            s_loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(side, s))
            loss = f_loss + 0.3 * s_loss
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.tracks[0].update_state(f_loss); self.tracks[1].update_state(s_loss); self.tracks[2].update_state(side, s)
        return {m.name: m.result() for m in self.metrics}


ds = tf.data.Dataset.zip((tf.data.Dataset.from_tensor_slices((xa[:1000], ya[:1000])).shuffle(1000),
                          tf.data.Dataset.from_tensor_slices(xb[:1000]).shuffle(1000)))
ds = ds.map(lambda a, b: ((a[0], a[1], b),)).batch(50)
model = Dann()
model.compile(optimizer=keras.optimizers.Adam(1e-3))
model.fit(ds, epochs=15, verbose=2)
for name, x, y in (("A", xa[1000:], ya[1000:]), ("B", xb[1000:], yb[1000:])):
    print("harbour", name, "fault accuracy", float((model(x).numpy().argmax(1) == y).mean()))
