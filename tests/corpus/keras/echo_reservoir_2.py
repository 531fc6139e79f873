"""Narma-10 system identification with a fixed random reservoir: only the readout learns, at a large rate."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import keras
from keras import layers

WASHOUT = 50


def narma10(n, seed):
    r = np.random.default_rng(seed)
    u = r.uniform(0, 0.5, n + 200)
    y = np.zeros(n + 200)
    for t in range(9, n + 199):
        y[t + 1] = 0.3 * y[t] + 0.05 * y[t] * y[t - 9:t + 1].sum() + 1.5 * u[t - 9] * u[t] + 0.1
        y[t + 1] = min(y[t + 1], 1.0)
    return u[200:].astype("float32"), y[200:].astype("float32")


def sequences(count, length, seed):
    us, ys = zip(*(narma10(length, seed * 1000 + i) for i in range(count)))
    # y[t] depends on u[t-1] and earlier, so the input is fed one step late
    u = np.stack(us)
    u = np.concatenate([np.zeros((count, 1), "float32"), u[:, :-1]], axis=1)
    return u[..., None], np.stack(ys)[..., None]


class SparseSpectral(keras.initializers.Initializer):
    """Sparse random matrix rescaled to a given spectral radius."""

    def __init__(self, radius, density, seed):
        self.radius, self.density, self.seed = radius, density, seed

    def __call__(self, shape, dtype=None):
        r = np.random.default_rng(self.seed)
        w = r.normal(size=shape) * (r.random(shape) < self.density)
        w *= self.radius / np.abs(np.linalg.eigvals(w)).max()
        return keras.ops.convert_to_tensor(w.astype("float32"))


def build(units=300):
    inp = keras.Input((None, 1))
    reservoir = layers.SimpleRNN(
        units, return_sequences=True, activation="tanh", name="reservoir",
        kernel_initializer=keras.initializers.RandomUniform(-1.0, 1.0, seed=1),
        recurrent_initializer=SparseSpectral(0.9, 0.05, 2),
        bias_initializer=keras.initializers.RandomUniform(-0.3, 0.3, seed=4),
        trainable=False,
    )
    states = reservoir(inp)
    return keras.Model(inp, layers.Dense(1, name="readout")(states)), keras.Model(inp, states)


def nrmse(p, y):
    return float(np.sqrt(np.mean((p - y) ** 2)) / y.std())


def main():
    keras.utils.set_random_seed(9)
    u_tr, y_tr = sequences(24, 300, 1)
    u_te, y_te = sequences(8, 300, 2)
    model, reservoir = build()

    # the reservoir never changes, so its states are computed once and the readout is fitted on them
    s_tr = reservoir.predict(u_tr, verbose=0)[:, WASHOUT:].reshape(-1, 300)
    t_tr = y_tr[:, WASHOUT:].reshape(-1, 1)
    mu, (vals, vecs) = s_tr.mean(0), np.linalg.eigh(np.cov(s_tr.T))
    keep = vals > 1e-6
    white = (vecs[:, keep] / np.sqrt(vals[keep])).astype("float32")

    readout = keras.Sequential([keras.Input((int(keep.sum()),)), layers.Dense(1, kernel_initializer="zeros")])
    sched = keras.optimizers.schedules.ExponentialDecay(0.05, 200, 0.6)
    readout.compile(optimizer=keras.optimizers.SGD(sched), loss="mse")
    h = readout.fit((s_tr - mu) @ white, t_tr, epochs=25, batch_size=100, verbose=0)
    for e in range(0, 25, 6):
        print(f"epoch {e + 1:2d} mse {h.history['loss'][e]:.5f}")

    w, b = readout.get_weights()
    full = white @ w
    model.get_layer("readout").set_weights([full, b - mu @ full])
    p = model.predict(u_te, verbose=0)[:, WASHOUT:]
    y = y_te[:, WASHOUT:]
    print(f"test NRMSE {nrmse(p, y):.3f}   mean 1.000   last value {nrmse(y_te[:, WASHOUT - 1:-1], y):.3f}")
    print("trainable:", [v.path for v in model.trainable_variables])


if __name__ == "__main__":
    main()
