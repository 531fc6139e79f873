"""Mixture density network for the inverse kinematics of a two-joint gripper."""
import math

import keras
import numpy as np
from keras import layers, ops

K, D = 4, 2
keras.utils.set_random_seed(9)
rng = np.random.default_rng(9)


def forward(q):
    a, b = q[:, 0], q[:, 0] + q[:, 1]
    return np.stack([np.cos(a) + 0.8 * np.cos(b), np.sin(a) + 0.8 * np.sin(b)], 1)


def sample(n):
    q = np.stack([rng.uniform(0, 1.5, n), rng.uniform(0.4, 2.2, n) * rng.choice([-1, 1], n)], 1)
    return forward(q).astype("float32"), q.astype("float32")


def split(params):
    logits = params[:, :K]
    mu = ops.reshape(params[:, K : K + K * D], (-1, K, D))
    log_sigma = ops.clip(ops.reshape(params[:, K + K * D :], (-1, K, D)), -4.0, 2.0)
    return logits, mu, log_sigma


def nll(y_true, params):
    logits, mu, log_sigma = split(params)
    z = (y_true[:, None, :] - mu) / ops.exp(log_sigma)
    log_p = ops.sum(-0.5 * ops.square(z) - log_sigma - 0.5 * math.log(2 * math.pi), axis=-1)
    return -ops.logsumexp(ops.log_softmax(logits, axis=-1) + log_p, axis=-1)


x, q = sample(5000)
x_test, _ = sample(500)
model = keras.Sequential([
    layers.Input((2,)),
    layers.Dense(96, activation="tanh"),
    layers.Dense(96, activation="tanh"),
    layers.Dense(K + 2 * K * D),
])
schedule = keras.optimizers.schedules.CosineDecay(4e-3, 40 * math.ceil(len(x) / 64))
model.compile(keras.optimizers.Adam(schedule, clipnorm=5.0), loss=nll)
model.fit(x, q, batch_size=64, epochs=40, verbose=2)

logits, mu, _ = (np.array(t) for t in split(model.predict(x_test, verbose=0)))
best = mu[np.arange(len(mu)), logits.argmax(1)]
error = np.linalg.norm(forward(best) - x_test, axis=1)
print(f"median gripper error {np.median(error):.3f}, within 0.1: {np.mean(error < 0.1):.3f}")
guess = np.linalg.norm(forward(np.repeat(q.mean(0)[None], len(x_test), 0)) - x_test, axis=1)
print(f"mean posture: median error {np.median(guess):.3f}")
