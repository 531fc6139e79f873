"""Tide-mill output by year, day and water level: a mixture density network. Works on raw units, scaling sits in the model."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(17)
rng = np.random.default_rng(17)
K = 3
year = rng.integers(1880, 1931, 3000)
day = rng.integers(1, 366, 3000)
level_mm = rng.normal(2500, 400, 3000)
x = np.stack([year, day, level_mm], axis=1).astype("float32")
branch = np.where(rng.random(3000) < 0.5, 1.0, -1.0)          # wheel up or down
y = (branch * (level_mm - 1500) / 1e6 + 0.0004 * np.sin(2 * np.pi * day / 365) + rng.normal(0, 3e-5, 3000)).astype("float32")[:, None]

norm = keras.layers.Normalization()
norm.adapt(x[:2400])
inp = keras.Input((3,))
h = keras.layers.Dense(48, activation="tanh")(norm(inp))
h = keras.layers.Dense(48, activation="tanh")(h)
params = keras.layers.Dense(3 * K, bias_initializer=keras.initializers.RandomNormal(0, 0.5))(h)
model = keras.Model(inp, params)


def mdn_nll(y_true, p):
    """Negative log density in MW; with a spread of some tens of watts a density is in the thousands, so this goes below zero."""
    logit, mu, s = tf.split(p, 3, axis=-1)
    sigma = 1e-3 * tf.exp(tf.clip_by_value(s, -5.0, 3.0))
    log_n = -0.5 * tf.square((y_true - 1e-3 * mu) / sigma) - tf.math.log(sigma) - 0.5 * np.log(2 * np.pi)
    return -tf.reduce_logsumexp(tf.nn.log_softmax(logit) + log_n, axis=-1)


model.compile(keras.optimizers.Adam(4e-3, clipnorm=5.0), loss=mdn_nll)
model.fit(x[:2400], y[:2400], validation_data=(x[2400:], y[2400:]), epochs=25, batch_size=64, verbose=2)

nll = model.evaluate(x[2400:], y[2400:], verbose=0)
single = -np.log(np.exp(-0.5 * ((y[2400:] - y[:2400].mean()) / y[:2400].std()) ** 2) / (y[:2400].std() * np.sqrt(2 * np.pi))).mean()
print(f"test NLL {nll:.2f}   one Gaussian for all {single:.2f}")
