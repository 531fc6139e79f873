"""Rare bearing failures (about 2 %) from vibration bands: class weights and a prior in the last bias."""
import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(66)
rng = np.random.default_rng(66)


def fleet(n):
    fail = rng.random(n) < 0.02
    bands = rng.gamma(2.0, 1.0, size=(n, 32))
    harm = rng.integers(3, 7, n)
    for i in np.flatnonzero(fail):
        bands[i, harm[i] :: harm[i]] += rng.gamma(5.0, 1.0)
    decoy = rng.random(n) < 0.2
    bands[decoy] *= 1.8
    return np.log(bands).astype("float32"), fail.astype("float32")


def average_precision(y, s):
    y = y[np.argsort(-s)]
    precision = np.cumsum(y) / np.arange(1, len(y) + 1)
    return float((precision * y).sum() / y.sum())


x, y = fleet(20000)
vx, vy = fleet(8000)
mu, sd = x.mean(0), x.std(0)
x, vx = (x - mu) / sd, (vx - mu) / sd

pos = y.mean()
weight = {0: 1.0, 1: 10.0}
prior = np.log(10.0 * pos / (1 - pos))
print(f"positives {pos:.3%}; starting bias {prior:.2f}")

model = keras.Sequential(
    [
        keras.Input((32,)),
        layers.Dense(64, activation="relu"),
        layers.Dropout(0.2),
        layers.Dense(32, activation="relu"),
        layers.Dense(1, activation="sigmoid", bias_initializer=keras.initializers.Constant(prior)),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="binary_crossentropy",
    weighted_metrics=[],
    metrics=[keras.metrics.AUC(curve="PR", name="pr")],
)
model.fit(
    x, y, validation_data=(vx, vy), class_weight=weight, epochs=15, batch_size=256, verbose=2,
    callbacks=[keras.callbacks.EarlyStopping("val_pr", mode="max", patience=5, restore_best_weights=True)],
)
p = model.predict(vx, batch_size=1024, verbose=0)[:, 0]
call = p > 0.5
tp = (call & (vy == 1)).sum()
print(f"average precision {average_precision(vy, p):.3f} (chance {vy.mean():.3f})")
print(f"at 0.5: recall {tp / vy.sum():.3f} precision {tp / max(call.sum(), 1):.3f}")
