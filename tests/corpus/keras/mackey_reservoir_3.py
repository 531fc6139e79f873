import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


def mackey_glass(n, tau=17, skip=500):
    x = [1.2] * (tau + 1)
    for _ in range(n + skip):
        x.append(x[-1] + 0.2 * x[-tau - 1] / (1 + x[-tau - 1] ** 10) - 0.1 * x[-1])
    return np.array(x[-n:], "float32")


class Reservoir(keras.layers.Layer):
    """Leaky echo-state cell; its matrices are drawn once and never learned."""

    def __init__(self, units, leak=0.4, radius=0.9, density=0.1, seed=0, **kw):
        super().__init__(trainable=False, **kw)
        self.units, self.leak, self.radius, self.density, self.seed = units, leak, radius, density, seed
        self.state_size = self.output_size = units

    def build(self, shape):
        rng = np.random.default_rng(self.seed)
        w = rng.normal(size=(self.units, self.units)) * (rng.random((self.units, self.units)) < self.density)
        w *= self.radius / np.abs(np.linalg.eigvals(w)).max()
        win = rng.uniform(-0.8, 0.8, (shape[-1], self.units))
        self.w = self.add_weight(shape=w.shape, initializer=lambda s, dtype=None: tf.constant(w, dtype), trainable=False)
        self.win = self.add_weight(shape=win.shape, initializer=lambda s, dtype=None: tf.constant(win, dtype), trainable=False)

    def call(self, x, states):
        h = states[0]
        new = tf.tanh(x @ self.win + h @ self.w)
        h = (1 - self.leak) * h + self.leak * new
        return h, [h]


series = mackey_glass(8000)
mean, std = series[:6000].mean(), series[:6000].std()
z = (series - mean) / std
HORIZON, CHUNK = 10, 50
UNITS = 200


def windows(a, b):
    xs = z[a:b - HORIZON]
    ys = z[a + HORIZON:b]
    n = len(xs) // CHUNK
    return xs[:n * CHUNK].reshape(n, CHUNK, 1), ys[:n * CHUNK].reshape(n, CHUNK, 1)


# one long series: a batch of one, chunk after chunk, with the state carried on
inp = keras.Input(batch_shape=(1, CHUNK, 1))
rnn = keras.layers.RNN(Reservoir(UNITS), return_sequences=True, stateful=True)
h = rnn(inp)
h = keras.layers.Concatenate()([h, inp])
h = keras.layers.Dense(64, "relu")(h)
out = keras.layers.Dense(1)(h)
model = keras.Model(inp, out)
model.summary()


class Forget(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        rnn.reset_state()

    def on_epoch_end(self, epoch, logs=None):
        ref = float(np.mean((yv - xv) ** 2))
        print(f"  val mse as a share of 'same as now': {logs['val_loss'] / ref:.4f}")


x, y = windows(0, 6000)
xv, yv = windows(6000, 8000)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(4e-3, 120 * 5, 0.7)), loss="mse")
hist = model.fit(x, y, batch_size=1, epochs=30, shuffle=False, validation_data=(xv, yv), validation_batch_size=1,
                 verbose=2, callbacks=[Forget()])
print("weights in the model", model.count_params(), "learned", sum(int(np.prod(v.shape)) for v in model.trainable_variables))
print("final validation mse", hist.history["val_loss"][-1])
