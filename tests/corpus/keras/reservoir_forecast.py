# Echo state network in Keras: the recurrent part stays random, only the read-out is fitted.
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(12)
rng = np.random.default_rng(12)


def mackey_glass(n, tau=17):
    x = [1.2] * (tau + 1)
    for _ in range(n * 2):
        x.append(x[-1] + 0.5 * (0.2 * x[-tau - 1] / (1 + x[-tau - 1] ** 10) - 0.1 * x[-1]))
    return np.array(x[-n:], dtype="float32")


series = mackey_glass(2500)
WINDOW, AHEAD = 40, 5
n = len(series) - WINDOW - AHEAD
X = np.stack([series[i:i + WINDOW] for i in range(n)])[..., None]
Y = series[WINDOW + AHEAD - 1:WINDOW + AHEAD - 1 + n]
m, s = series[:1800].mean(), series[:1800].std()
X, Y = (X - m) / s, (Y - m) / s

UNITS = 150
W = rng.normal(size=(UNITS, UNITS)) * (rng.random((UNITS, UNITS)) < 0.1)
W *= 0.9 / np.abs(np.linalg.eigvals(W)).max()
reservoir = layers.SimpleRNN(UNITS, name="reservoir")
inp = keras.Input((WINDOW, 1))
states = reservoir(inp)
reservoir.set_weights([rng.uniform(-0.5, 0.5, (1, UNITS)), W, rng.uniform(-0.2, 0.2, UNITS)])
reservoir.trainable = False
model = keras.Model(inp, layers.Dense(1, kernel_initializer="zeros")(states))

model.compile(optimizer=keras.optimizers.Adam(1e-2), loss="mse")
model.summary()
model.fit(X[:1800], Y[:1800], epochs=25, batch_size=64, shuffle=True, verbose=2,
          callbacks=[keras.callbacks.ReduceLROnPlateau(monitor="loss", patience=2, factor=0.5)])

pred = model.predict(X[1850:], verbose=0).ravel()
target = Y[1850:]
print("NRMSE read-out     %.4f" % np.sqrt(np.mean((pred - target) ** 2)))
print("NRMSE last value   %.4f" % np.sqrt(np.mean((X[1850:, -1, 0] - target) ** 2)))
