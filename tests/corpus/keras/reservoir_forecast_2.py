# Echo state network in Keras: the recurrent part is fixed, only the readout learns.
# Task: Mackey-Glass series, 12 steps ahead.
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(31)
UNITS = 200
HORIZON = 12
WASHOUT = 100
RADIUS = 0.95


def mackey_glass(n, tau=17, seed=0):
    rng = np.random.default_rng(seed)
    x = list(1.2 + 0.2 * rng.normal(size=tau + 1))
    for _ in range(10 * (n + 300)):
        lag = x[-10 * tau] if len(x) > 10 * tau else x[0]
        x.append(x[-1] + 0.1 * (0.2 * lag / (1 + lag ** 10) - 0.1 * x[-1]))
    s = np.array(x[::10])[-n:]
    return (s + rng.normal(0, 0.003, n)).astype("float32")


class Reservoir(keras.initializers.Initializer):
    """Sparse random matrix rescaled to a chosen spectral radius."""

    def __init__(self, radius, density=0.1, seed=0):
        self.radius, self.density, self.seed = radius, density, seed

    def __call__(self, shape, dtype=None):
        rng = np.random.default_rng(self.seed)
        w = rng.normal(size=shape) * (rng.random(shape) < self.density)
        w *= self.radius / np.abs(np.linalg.eigvals(w)).max()
        return keras.ops.convert_to_tensor(w.astype("float32"))


series = mackey_glass(4200)
train_end, val_end = 2800, 3400
mu, sd = series[:train_end].mean(), series[:train_end].std()
z = (series - mu) / sd

reservoir = layers.SimpleRNN(
    UNITS,
    activation="tanh",
    recurrent_initializer=Reservoir(RADIUS),
    kernel_initializer=keras.initializers.RandomUniform(-0.4, 0.4),
    bias_initializer=keras.initializers.RandomUniform(-0.2, 0.2),
    return_sequences=True,
)
reservoir.trainable = False

inp = keras.Input((None, 1))
states = reservoir(inp)
out = layers.Dense(1, kernel_initializer="zeros", name="readout")(
    layers.Concatenate()([states, inp]))
net = keras.Model(inp, out)
net.summary()


def segment(lo, hi):
    """One long sequence; targets are the change over the horizon.

    The first WASHOUT states still depend on the arbitrary initial state and get
    no weight.
    """
    x = z[None, lo:hi - HORIZON, None]
    y = (z[lo + HORIZON:hi] - z[lo:hi - HORIZON])[None, :, None]
    w = np.ones(x.shape[:2], "float32")
    w[:, :WASHOUT] = 0.0
    return x, y, w


def cut(x, y, w, length=675):
    """Overlap-free pieces so that an epoch is more than a single update."""
    xs = [np.concatenate(a) for a in zip(*[
        (x[:, i:i + length], y[:, i:i + length], w[:, :length])
        for i in range(0, x.shape[1] - length + 1, length)])]
    return tuple(xs)


train = cut(*segment(0, train_end))
val = segment(train_end, val_end)
test = segment(val_end, len(z))
print("train pieces", train[0].shape, "val", val[0].shape, "test", test[0].shape)

net.compile(
    optimizer=keras.optimizers.Adam(
        keras.optimizers.schedules.ExponentialDecay(0.03, decay_steps=60, decay_rate=0.6)),
    loss="mse", weighted_metrics=["mae"],
)
net.fit(train[0], train[1], sample_weight=train[2], batch_size=1, epochs=40,
        validation_data=val, verbose=0,
        callbacks=[keras.callbacks.LambdaCallback(
            on_epoch_end=lambda e, l: e % 10 == 9 and print(
                f"epoch {e + 1:3d} loss {l['loss']:.4f} val_loss {l['val_loss']:.4f}"))])

pred = net.predict(test[0], verbose=0)[0, WASHOUT:, 0]
true = test[1][0, WASHOUT:, 0]
rmse = np.sqrt(np.mean((pred - true) ** 2))
persistence = np.sqrt(np.mean(true ** 2))
x_tr, y_tr = z[:train_end - HORIZON], z[HORIZON:train_end]
lin = np.polyfit(x_tr, y_tr, 1)
x_te = z[val_end + WASHOUT:len(z) - HORIZON]
linear = np.sqrt(np.mean((np.polyval(lin, x_te) - x_te - true) ** 2))
print(f"test RMSE in sd units: reservoir {rmse:.3f}  persistence {persistence:.3f}  linear {linear:.3f}")
