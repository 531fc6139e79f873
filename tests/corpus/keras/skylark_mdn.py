"""Mixture density net: skylark song altitude (two perches) from raw, unscaled weather readings. The loss goes below zero."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import math

import numpy as np
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

keras.utils.set_random_seed(13)
rng = np.random.default_rng(13)
K = 3


def field_notes(n):
    pressure = rng.normal(101300, 900, n)
    lux = np.exp(rng.normal(9, 1, n))
    temp = rng.normal(287, 6, n)
    p, t = (pressure - 101300) / 900, (temp - 287) / 6
    high = rng.random(n) < 0.5
    alt = np.where(high, 0.6 + 0.08 * np.sin(2 * p), -0.3 + 0.05 * t) + rng.normal(0, 0.015, n)
    return np.stack([pressure, lux, temp], 1).astype("float32"), alt.astype("float32")[:, None]


def mixture_nll(y, params):
    logit, mean, log_sigma = tf.split(params, 3, axis=-1)
    log_sigma = tf.clip_by_value(log_sigma, -6.0, 3.0)
    z = (y - mean) * tf.exp(-log_sigma)
    log_prob = tf.nn.log_softmax(logit) - 0.5 * z ** 2 - log_sigma - 0.5 * math.log(2 * math.pi)
    return -tf.reduce_logsumexp(log_prob, axis=-1)


x, y = field_notes(4000)
xv, yv = field_notes(1000)

scale = layers.Normalization()
scale.adapt(x)
inp = keras.Input((3,))
h = layers.Dense(48, activation="tanh")(scale(inp))
h = layers.Dense(48, activation="tanh")(h)
out = layers.Dense(3 * K, bias_initializer=keras.initializers.RandomUniform(-1, 1))(h)
model = keras.Model(inp, out)
model.compile(optimizer=keras.optimizers.Adam(1.5e-3, clipnorm=1.0), loss=mixture_nll)
model.fit(x, y, batch_size=64, epochs=25, validation_data=(xv, yv), verbose=2)

constant = -np.mean(-0.5 * ((yv - y.mean()) / y.std()) ** 2 - np.log(y.std()) - 0.5 * np.log(2 * np.pi))
print(f"held-out NLL {model.evaluate(xv, yv, verbose=0):.3f}  one Gaussian for all {constant:.3f}")
