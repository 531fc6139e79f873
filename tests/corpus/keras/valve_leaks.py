"""Rare leaks (about 1.5 %) among valve inspections: class weights, prior-based bias, average precision."""
import numpy as np
import tensorflow as tf
import keras
from sklearn.metrics import average_precision_score, precision_recall_curve

keras.utils.set_random_seed(40)
rng = np.random.default_rng(40)

n = 16000
pressure = rng.normal(6, 1.2, n)
cycles = rng.exponential(3000, n)
noise_db = rng.normal(48, 4, n)
age = rng.uniform(0, 25, n)
steel = rng.integers(0, 2, n)
risk = 0.9 * (pressure - 6) + 0.0005 * cycles + 0.25 * (noise_db - 48) + 0.06 * age * (1 - steel)
leak = (risk > np.quantile(risk, 0.985)).astype("float32")
noise_db += rng.normal(0, 0.6, n)

x = np.stack([pressure, np.log1p(cycles), noise_db, age, steel], 1)
order = rng.permutation(n)
tr, va, te = np.split(order, [10000, 12500])
mu, sd = x[tr].mean(0), x[tr].std(0)
x = ((x - mu) / sd).astype("float32")

pos = leak[tr].sum()
neg = len(tr) - pos
weight = {0: 1.0, 1: float(np.sqrt(neg / pos))}
bias = np.log(weight[1] * pos / neg)
print(f"leaks in training: {int(pos)} of {len(tr)}, weight {weight[1]:.1f}, start bias {bias:.2f}")

model = keras.Sequential([
    keras.Input((5,)),
    keras.layers.Dense(32, activation="relu"),
    keras.layers.Dense(32, activation="relu"),
    keras.layers.Dense(1, bias_initializer=keras.initializers.Constant(bias)),
])
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.AUC(curve="PR", from_logits=True, name="pr")],
)
model.fit(
    x[tr], leak[tr],
    validation_data=(x[va], leak[va]),
    class_weight=weight,
    batch_size=512,          # large enough that most batches hold a leak
    epochs=40,
    verbose=2,
    callbacks=[keras.callbacks.EarlyStopping("val_pr", mode="max", patience=10, restore_best_weights=True)],
)

score_va = model.predict(x[va], verbose=0)[:, 0]
p, r, t = precision_recall_curve(leak[va], score_va)
f1 = 2 * p * r / np.maximum(p + r, 1e-9)
cut = t[min(f1.argmax(), len(t) - 1)]
score_te = model.predict(x[te], verbose=0)[:, 0]
hit = score_te >= cut
tp = (hit * leak[te]).sum()
print("average precision %.3f" % average_precision_score(leak[te], score_te))
print("precision %.3f recall %.3f" % (tp / hit.sum(), tp / leak[te].sum()))
