import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(9)
rng = np.random.default_rng(9)
names = ["amount", "hour", "distance", "new_shop", "n_last_day", "age_of_card"]


def purchases(n, rate=0.02):
    y = (rng.random(n) < rate).astype("float32")
    amount = np.exp(rng.normal(3.2, 1.0, n) + 1.3 * y)
    hour = np.where(y > 0, rng.normal(2, 3, n) % 24, rng.normal(14, 4, n) % 24)
    dist = rng.gamma(1.5, 5, n) * (1 + 5 * y * rng.random(n))
    new = (rng.random(n) < 0.15 + 0.6 * y).astype(float)
    last = rng.poisson(1.5 + 2.5 * y)
    age = rng.uniform(0, 60, n)
    return np.column_stack([amount, hour, dist, new, last, age]).astype("float32"), y


def prepare(X):
    a = X.copy()
    a[:, 0] = np.log(a[:, 0])
    a[:, 2] = np.log1p(a[:, 2])
    clock = 2 * np.pi * X[:, 1:2] / 24
    return np.hstack([a, np.sin(clock), np.cos(clock)]).astype("float32")


def average_precision(y, s):
    o = np.argsort(-s)
    hit = y[o]
    prec = np.cumsum(hit) / np.arange(1, len(hit) + 1)
    return float((prec * hit).sum() / hit.sum())


X, y = purchases(30000)
Xt, yt = purchases(15000)
X, Xt = prepare(X), prepare(Xt)

n_val = 3000
X, y, Xv, yv = X[n_val:], y[n_val:], X[:n_val], y[:n_val]

scale = layers.Normalization()
scale.adapt(X)
rate = float(y.mean())
model = keras.Sequential([
    layers.Input((X.shape[1],)),
    scale,
    layers.Dense(48, activation="relu"),
    layers.Dense(24, activation="relu"),
    layers.Dense(1, bias_initializer=keras.initializers.Constant(0.0)),
])
weights = {0: 0.5 / (1 - rate), 1: 0.5 / rate}
print("share of fraud %.4f, class weights %s" % (rate, weights))
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    weighted_metrics=[keras.metrics.BinaryAccuracy(threshold=0.0, name="acc")],
)
model.fit(X, y, epochs=14, batch_size=256, class_weight=weights, validation_data=(Xv, yv, np.where(yv > 0, weights[1], weights[0])), verbose=2)

# the weights move the odds by a known factor; take it out again before giving out probabilities
logit = model.predict(Xt, verbose=0)[:, 0] + np.log(rate / (1 - rate))
prob = 1 / (1 + np.exp(-logit))
print("average precision %.3f (chance %.3f)" % (average_precision(yt, prob), yt.mean()))
flag = prob > rate
print("recall %.3f, false alarms %.3f" % (flag[yt == 1].mean(), flag[yt == 0].mean()))
print("mean probability %.4f, observed %.4f" % (prob.mean(), yt.mean()))
