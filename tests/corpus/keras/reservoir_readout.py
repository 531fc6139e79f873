import argparse

import numpy as np
import tensorflow as tf
import keras
from keras import layers

parser = argparse.ArgumentParser()
parser.add_argument("--units", type=int, default=200)
parser.add_argument("--epochs", type=int, default=25)
parser.add_argument("--radius", type=float, default=0.9)
args = parser.parse_args()

keras.utils.set_random_seed(121)
rng = np.random.default_rng(121)


def sequences(n, length=40):
    kind = rng.integers(0, 4, n)
    t = np.arange(length)[None, :]
    phase = rng.uniform(0, 2 * np.pi, (n, 1))
    freq = np.array([0.25, 0.4, 0.6, 0.9])[kind][:, None] * rng.normal(1, 0.04, (n, 1))
    x = np.sin(freq * t + phase) + rng.normal(0, 0.3, (n, length))
    return x[..., None].astype("float32"), kind.astype("int32")


class Reservoir(layers.Layer):
    def __init__(self, units, radius, leak=0.4):
        super().__init__(trainable=False)
        w = rng.normal(0, 1, (units, units)) * (rng.random((units, units)) < 0.1)
        w *= radius / np.abs(np.linalg.eigvals(w)).max()
        self.w = tf.constant(w.astype("float32"))
        self.w_in = tf.constant(rng.uniform(-0.5, 0.5, (1, units)).astype("float32"))
        self.leak = leak
        self.units = units

    def call(self, x):
        state = tf.zeros((tf.shape(x)[0], self.units))
        power = tf.zeros_like(state)
        for t in range(x.shape[1]):
            state = (1 - self.leak) * state + self.leak * tf.tanh(x[:, t] @ self.w_in + state @ self.w)
            power += state ** 2
        return tf.stop_gradient(tf.concat([state, tf.math.log(power + 1e-4)], axis=1))

    def compute_output_shape(self, shape):
        return (shape[0], 2 * self.units)


inp = layers.Input((40, 1))
h = Reservoir(args.units, args.radius)(inp)
h = layers.BatchNormalization(center=False, scale=False)(h)
out = layers.Dense(4, kernel_regularizer=keras.regularizers.L2(1e-4))(h)
model = keras.Model(inp, out)
model.compile(
    optimizer=keras.optimizers.Adam(5e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
print("trainable", sum(int(np.prod(v.shape)) for v in model.trainable_variables), "numbers")

x_tr, y_tr = sequences(1500)
x_te, y_te = sequences(500)
h = model.fit(x_tr, y_tr, epochs=args.epochs, batch_size=50, verbose=0)
loss, acc = model.evaluate(x_te, y_te, verbose=0)
print(f"train loss {h.history['loss'][0]:.3f} -> {h.history['loss'][-1]:.3f}")
print(f"test loss {loss:.3f} accuracy {acc:.3f} (chance 0.25)")
