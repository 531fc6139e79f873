import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf

keras = tf.keras
keras.utils.set_random_seed(7)


def mackey_glass(n, tau=17):
    x = np.full(n + tau + 300, 1.2)
    rng = np.random.default_rng(0)
    x[:tau + 1] += rng.normal(0, 0.05, tau + 1)
    for t in range(tau, len(x) - 1):
        x[t + 1] = x[t] + 0.2 * x[t - tau] / (1 + x[t - tau] ** 10) - 0.1 * x[t]
    return x[-n:]


class Reservoir(keras.layers.Layer):
    def __init__(self, units, radius=0.9, leak=0.5):
        super().__init__(trainable=False)
        rng = np.random.default_rng(5)
        w = rng.normal(size=(units, units)) * (rng.random((units, units)) < 0.1)
        w *= radius / np.abs(np.linalg.eigvals(w)).max()
        self.w = tf.constant(w, tf.float32)
        self.w_in = tf.constant(rng.uniform(-1, 1, (1, units)), tf.float32)
        self.leak = leak
        self.units = units

    def call(self, x):
        state = tf.zeros((tf.shape(x)[0], self.units))
        for t in range(x.shape[1]):
            new = tf.tanh(tf.matmul(x[:, t], self.w_in) + tf.matmul(state, self.w))
            state = (1 - self.leak) * state + self.leak * new
        return tf.stop_gradient(state)


series = mackey_glass(2600)
series = (series - series.mean()) / series.std()
WINDOW, AHEAD = 30, 6
idx = np.arange(WINDOW, len(series) - AHEAD)
X = np.stack([series[i - WINDOW:i] for i in idx]).astype("float32")[..., None]
Y = series[idx + AHEAD - 1].astype("float32")[:, None]
cut = 2000

model = keras.Sequential([keras.layers.Input((WINDOW, 1)), Reservoir(120), keras.layers.Dense(1)])
print("trainable tensors", len(model.trainable_variables))
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mse")
model.fit(X[:cut], Y[:cut], epochs=25, batch_size=64, verbose=0)
mse = model.evaluate(X[cut:], Y[cut:], verbose=0)
persist = np.mean((X[cut:, -1, 0] - Y[cut:, 0]) ** 2)
print(f"test mse {mse:.4f}  persistence {persist:.4f}")
