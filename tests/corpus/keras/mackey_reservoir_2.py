# Echo-state style network: random recurrent layer that is never trained, linear readout that is.
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(3)


def mackey_glass(n, tau=17, seed=0):
    rng = np.random.default_rng(seed)
    x = list(1.2 + 0.1 * rng.normal(size=tau + 1))
    for _ in range(n + 300):
        x.append(x[-1] + 0.2 * x[-tau - 1] / (1 + x[-tau - 1] ** 10) - 0.1 * x[-1])
    return np.array(x[-n:], "float32")


class Spectral(keras.initializers.Initializer):
    """Random matrix rescaled to a chosen spectral radius."""

    def __init__(self, radius, seed):
        self.radius, self.seed = radius, seed

    def __call__(self, shape, dtype=None):
        m = np.random.default_rng(self.seed).normal(size=shape)
        m *= self.radius / np.abs(np.linalg.eigvals(m)).max()
        return keras.ops.convert_to_tensor(m.astype("float32"))


series = mackey_glass(4000)
series = series - series[:3000].mean()
WIN, AHEAD = 60, 6
idx = np.arange(len(series) - WIN - AHEAD)
x = np.stack([series[i : i + WIN] for i in idx])[..., None]
y = np.array([series[i + WIN + AHEAD - 1] for i in idx])[:, None]
cut = 3000
xtr, ytr, xte, yte = x[:cut], y[:cut], x[cut + WIN :], y[cut + WIN :]

reservoir = layers.SimpleRNN(
    160, activation="tanh", kernel_initializer=keras.initializers.RandomUniform(-1.5, 1.5, seed=1), bias_initializer=keras.initializers.RandomUniform(-0.5, 0.5, seed=4),
    recurrent_initializer=Spectral(0.9, seed=2), trainable=False, name="reservoir",
)
inp = keras.Input((WIN, 1))
state = reservoir(inp)
model = keras.Model(inp, layers.Dense(1, name="readout")(state))
model.summary()

schedule = keras.optimizers.schedules.CosineDecay(0.03, decay_steps=60 * (cut // 100))
model.compile(optimizer=keras.optimizers.Adam(schedule), loss="mse", metrics=["mae"])
model.fit(xtr, ytr, batch_size=100, epochs=60, verbose=0)
for name, a, b in (("train", xtr, ytr), ("test", xte, yte)):
    p = model.predict(a, verbose=0)
    print(f"{name} NRMSE {np.sqrt(np.mean((p - b) ** 2)) / b.std():.4f}")
naive = xte[:, -1]
print(f"persistence NRMSE {np.sqrt(np.mean((naive - yte) ** 2)) / yte.std():.4f}")
