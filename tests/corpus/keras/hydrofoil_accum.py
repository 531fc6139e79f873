"""Hydrofoil ride height from strut sensors; the batch is cut in micro-batches by hand inside train_step."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(31)
rng = np.random.default_rng(31)
EVERY = 4


class Accumulating(keras.Model):
    """Steps once every EVERY micro-batches with the mean of their gradients."""

    def prepare(self):
        self.bank = [tf.Variable(tf.zeros_like(v), trainable=False) for v in self.trainable_variables]
        self.seen = tf.Variable(0, dtype=tf.int64, trainable=False)

    def apply_bank(self):
        self.optimizer.apply_gradients([(b / EVERY, v) for b, v in zip(self.bank, self.trainable_variables)])
        for b in self.bank:
            b.assign(tf.zeros_like(b))
        return True

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            pred = self(x, training=True)
            loss = self.compute_loss(x, y, pred)
        for b, g in zip(self.bank, tape.gradient(loss, self.trainable_variables)):
            b.assign_add(g)
        self.seen.assign_add(1)
        tf.cond(tf.equal(self.seen % EVERY, 0), self.apply_bank, lambda: False)
        for m in self.metrics:
            if m.name == "loss":
                m.update_state(loss)
            else:
                m.update_state(y, pred)
        return {m.name: m.result() for m in self.metrics}


def ride(n):
    x = rng.normal(0, 1, (n, 8))
    height = 1.2 * np.sin(x[:, 0]) + x[:, 1] * x[:, 2] - 0.7 * np.abs(x[:, 3]) + 0.3 * x[:, 4]
    return x.astype("float32"), (height + rng.normal(0, 0.1, n)).astype("float32")[:, None]


x, y = ride(4000)
xv, yv = ride(800)
inp = keras.Input((8,))
h = layers.Dense(64, activation="swish")(inp)
h = layers.Dense(64, activation="swish")(h)
model = Accumulating(inp, layers.Dense(1)(h))
model.compile(optimizer=keras.optimizers.Adam(8e-3), loss="mse", metrics=["mae"])
model.optimizer.build(model.trainable_variables)
model.prepare()
model.fit(x, y, batch_size=16, epochs=8, verbose=2)
pred = model.predict(xv, verbose=0)
print(f"optimizer steps {int(model.optimizer.iterations)}  R2 {1 - np.mean((pred - yv) ** 2) / yv.var():.3f}")
