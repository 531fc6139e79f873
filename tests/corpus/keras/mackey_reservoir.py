# Echo state network: a big random recurrent layer that stays as it is,
# only the linear readout is learned.
import numpy as np
import tf_keras as keras
from tf_keras import layers

keras.utils.set_random_seed(6)
rng = np.random.RandomState(6)

# Mackey-Glass series
tau, n = 17, 4000
s = np.full(n + tau, 1.2)
s[:tau] += 0.2 * (rng.rand(tau) - 0.5)
for t in range(tau, n + tau - 1):
    s[t + 1] = s[t] + 0.2 * s[t - tau] / (1 + s[t - tau] ** 10) - 0.1 * s[t]
s = (s[tau + 200:] - 0.9).astype("float32")

L, AHEAD, UNITS = 50, 10, 300
idx = np.arange(len(s) - L - AHEAD)
X = s[idx[:, None] + np.arange(L)][..., None]
y = s[idx + L - 1 + AHEAD]
cut = int(0.75 * len(X))
X_train, y_train, X_test, y_test = X[:cut], y[:cut], X[cut + L:], y[cut + L:]


def recurrent_init(shape, dtype=None):
    w = rng.normal(size=shape) * (rng.rand(*shape) < 0.1)
    w *= 0.9 / np.abs(np.linalg.eigvals(w)).max()
    return w.astype("float32")


reservoir = layers.SimpleRNN(
    UNITS,
    kernel_initializer=keras.initializers.RandomUniform(-1.0, 1.0),
    recurrent_initializer=recurrent_init,
    bias_initializer=keras.initializers.RandomUniform(-0.2, 0.2),
    trainable=False,
)
readout = layers.Dense(1, kernel_initializer="zeros")

model = keras.Sequential([layers.Input((L, 1)), reservoir, readout])
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse")
model.summary()

# the states never change, so compute them once and train the readout alone
states = keras.Sequential([layers.Input((L, 1)), reservoir])
H_train = states.predict(X_train, verbose=0)

head = keras.Sequential([layers.Input((UNITS,)), readout])
head.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse")
head.fit(H_train, y_train, batch_size=64, epochs=40, verbose=2)
head.optimizer.learning_rate = 3e-4
head.fit(H_train, y_train, batch_size=64, epochs=20, verbose=2)

pred = model.predict(X_test, verbose=0)[:, 0]
nrmse = np.sqrt(np.mean((pred - y_test) ** 2)) / y_test.std()
naive = np.sqrt(np.mean((X_test[:, -1, 0] - y_test) ** 2)) / y_test.std()
print(f"NRMSE {AHEAD} steps ahead: reservoir {nrmse:.4f}, last value {naive:.4f}")
