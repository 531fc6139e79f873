"""Mixture density network: the loss is a log density and may go below zero."""
import numpy as np
import keras
from keras import layers, ops

keras.utils.set_random_seed(2)
K = 3
rng = np.random.default_rng(2)
x = rng.uniform(-1, 1, (3000, 1)).astype("float32")
branch = rng.integers(0, 2, (3000, 1)) * 2 - 1
y = (0.3 * np.sin(3 * x) + 0.5 * branch * (x > 0) + rng.normal(0, 0.03, x.shape)).astype("float32")


def nll(y_true, params):
    logit, mu, raw = ops.split(params, 3, axis=-1)
    log_w = ops.log_softmax(logit, axis=-1)
    sigma = ops.softplus(raw) + 1e-2
    z = (y_true - mu) / sigma
    log_p = log_w - 0.5 * z * z - ops.log(sigma) - 0.5 * np.log(2 * np.pi)
    return -ops.logsumexp(log_p, axis=-1)


model = keras.Sequential([
    keras.Input((1,)),
    layers.Dense(48, activation="tanh"),
    layers.Dense(48, activation="tanh"),
    layers.Dense(3 * K),
])
model.compile(keras.optimizers.Adam(3e-3), loss=nll)
model.fit(x[:2400], y[:2400], validation_data=(x[2400:], y[2400:]), epochs=20, batch_size=64, verbose=2)

out = model.predict(np.array([[-0.5], [0.5]], "float32"), verbose=0)
print("means at x=-0.5 and x=0.5:\n", out[:, K:2 * K].round(2))
print("held-out log density:", -model.evaluate(x[2400:], y[2400:], verbose=0))
