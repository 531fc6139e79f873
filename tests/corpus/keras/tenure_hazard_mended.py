import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(2)
N_BINS = 12


def simulate_subscribers(n, rng):
    x = rng.normal(size=(n, 8)).astype("float32")
    risk = 0.9 * x[:, 0] - 0.7 * x[:, 1] + 0.5 * x[:, 2] * x[:, 3]
    base = -2.2 + 0.6 * np.sin(np.arange(N_BINS) / 2.0)
    hazard = 1 / (1 + np.exp(-(base[None] + risk[:, None])))
    event = np.full(n, N_BINS)
    for t in range(N_BINS):
        hit = (event == N_BINS) & (rng.random(n) < hazard[:, t])
        event[hit] = t
    censor = rng.integers(3, N_BINS + 1, n)
    duration = np.minimum(event, censor)
    observed = (event < censor) & (event < N_BINS)
    return x, duration, observed, hazard


def person_period(duration, observed):
    bins = np.arange(N_BINS)[None]
    at_risk = (bins < duration[:, None]) | ((bins == duration[:, None]) & observed[:, None])
    died = (bins == duration[:, None]) & observed[:, None]
    return died.astype("float32")[..., None], at_risk.astype("float32")


def batches(x, y, w, size, rng):
    while True:
        order = rng.permutation(len(x))
        for i in range(0, len(x) - size + 1, size):
            j = order[i:i + size]
            yield x[j], y[j], w[j]


def hazard_net():
    inp = keras.Input((8,))
    h = layers.Dense(48, activation="relu")(inp)
    h = layers.Dense(48, activation="relu")(h)
    h = layers.Dense(N_BINS)(h)
    return keras.Model(inp, layers.Reshape((N_BINS, 1))(h))


def concordance(risk, duration, observed):
    good = total = 0.0
    for i in np.flatnonzero(observed):
        later = duration > duration[i]
        total += later.sum()
        good += (risk[later] < risk[i]).sum() + 0.5 * (risk[later] == risk[i]).sum()
    return good / total


rng = np.random.default_rng(8)
x_tr, d_tr, o_tr, _ = simulate_subscribers(4000, rng)
x_te, d_te, o_te, h_te = simulate_subscribers(1000, rng)
y_tr, w_tr = person_period(d_tr, o_tr)
y_te, w_te = person_period(d_te, o_te)

model = hazard_net()
model.compile(optimizer=keras.optimizers.Adam(2e-3),
              loss=keras.losses.BinaryCrossentropy(from_logits=True))
spec = (tf.TensorSpec((None, 8), tf.float32), tf.TensorSpec((None, N_BINS, 1), tf.float32),
        tf.TensorSpec((None, N_BINS), tf.float32))
feed = tf.data.Dataset.from_generator(
    lambda: batches(x_tr, y_tr, w_tr, 64, np.random.default_rng(1)), output_signature=spec)
model.fit(feed, steps_per_epoch=60, epochs=12, verbose=2,
          validation_data=(x_te, y_te, w_te))

hazard = 1 / (1 + np.exp(-model.predict(x_te, verbose=0)[..., 0]))
survival = np.cumprod(1 - hazard, axis=1)
true_survival = np.cumprod(1 - h_te, axis=1)
base_rate = (y_tr[..., 0] * w_tr).sum(0) / w_tr.sum(0)
baseline = np.cumprod(1 - base_rate)[None]
print(f"mean hazard {hazard.mean():.4f} (true {h_te.mean():.4f})")
print(f"survival curve error {np.abs(survival - true_survival).mean():.4f} "
      f"(Kaplan-Meier-like baseline {np.abs(baseline - true_survival).mean():.4f})")
print(f"concordance {concordance(-survival.sum(1), d_te, o_te):.4f}")
