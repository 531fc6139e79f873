"""Echo-state style model: the recurrent part is random and stays fixed, only the readout learns."""
import argparse
import numpy as np
import tensorflow as tf
import keras
from keras import layers

ap = argparse.ArgumentParser()
ap.add_argument("--units", type=int, default=120)
ap.add_argument("--radius", type=float, default=0.9)
ap.add_argument("--leak", type=float, default=0.6)
ap.add_argument("--lr", type=float, default=0.3)
ap.add_argument("--epochs", type=int, default=60)
ap.add_argument("--seed", type=int, default=9)
args = ap.parse_args()
keras.utils.set_random_seed(args.seed)
rng = np.random.default_rng(args.seed)
WASHOUT = 50


def narma(n, order=5):
    u = rng.uniform(0, 0.5, n)
    y = np.zeros(n)
    for t in range(order, n):
        y[t] = (0.3 * y[t - 1] + 0.05 * y[t - 1] * y[t - order:t].sum()
                + 1.5 * u[t - order] * u[t - 1] + 0.1)
    return u.astype("float32"), y.astype("float32")


class ReservoirCell(layers.Layer):
    def __init__(self, units, radius, leak, **kw):
        super().__init__(trainable=False, **kw)
        self.units = self.state_size = units
        self.radius, self.leak = radius, leak

    def build(self, shape):
        w = rng.normal(size=(self.units, self.units)) * (rng.random((self.units, self.units)) < 0.1)
        w *= self.radius / np.max(np.abs(np.linalg.eigvals(w)))
        w_in = rng.uniform(-1, 1, (shape[-1], self.units))
        bias = rng.uniform(-0.5, 0.5, self.units)
        add = lambda v, name: self.add_weight(shape=v.shape, initializer=keras.initializers.Constant(v),
                                              trainable=False, name=name)
        self.w, self.w_in, self.b = add(w, "w"), add(w_in, "w_in"), add(bias, "b")

    def call(self, x, states):
        h = states[0]
        new = tf.tanh(tf.matmul(x, self.w_in) + tf.matmul(h, self.w) + self.b)
        h = (1 - self.leak) * h + self.leak * new
        return h, [h]


u_tr, y_tr = narma(3000)
u_te, y_te = narma(1200)
reservoir = layers.RNN(ReservoirCell(args.units, args.radius, args.leak), return_sequences=True)


def states(u):
    return reservoir(u[None, :, None]).numpy()[0, WASHOUT:]


h_tr, h_te = states(u_tr), states(u_te)
t_tr, t_te = y_tr[WASHOUT:], y_te[WASHOUT:]
mu, sd = h_tr.mean(0), h_tr.std(0) + 1e-6
_, _, vt = np.linalg.svd((h_tr - mu) / sd, full_matrices=False)
proj = (h_tr - mu) / sd @ vt.T
scale = proj.std(0) + 1e-3
white = lambda h: ((h - mu) / sd @ vt.T / scale).astype("float32")

readout = keras.Sequential([keras.Input((args.units,)),
                            layers.Dense(1, kernel_initializer="zeros")])
t_mean, t_std = t_tr.mean(), t_tr.std()
schedule = keras.optimizers.schedules.ExponentialDecay(args.lr, decay_steps=12, decay_rate=0.95)
readout.compile(optimizer=keras.optimizers.SGD(schedule), loss="mse")
print("trainable in reservoir:", len(reservoir.trainable_weights), "| whitened readout, lr", args.lr)
hist = readout.fit(white(h_tr), (t_tr - t_mean) / t_std, batch_size=512, epochs=args.epochs, verbose=0)
for e in range(0, args.epochs, 10):
    print(f"epoch {e:2d} mse {hist.history['loss'][e]:.5f}")

pred = readout.predict(white(h_te), verbose=0)[:, 0] * t_std + t_mean
nrmse = np.sqrt(np.mean((pred - t_te) ** 2)) / t_te.std()
persist = np.sqrt(np.mean((t_te[1:] - t_te[:-1]) ** 2)) / t_te.std()
print(f"test NRMSE {nrmse:.4f}   (persistence {persist:.4f}, mean 1.0)")
