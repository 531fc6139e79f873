import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import keras
from keras import layers

RATE = 0.02


def transactions(n, seed):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < RATE).astype("float32")
    x = rng.normal(0, 1, (n, 12))
    bad = y == 1
    sign = rng.choice([-1, 1], bad.sum())
    x[bad, 0] += 2.2 * sign
    x[bad, 1] += 2.2 * sign
    x[bad, 2] += 1.5
    x[bad, 3] *= 2.0
    return x.astype("float32"), y


keras.utils.set_random_seed(44)
xtr, ytr = transactions(20000, 0)
xva, yva = transactions(8000, 1)
pos = ytr.mean()
weights = {0: 0.5 / (1 - pos), 1: 0.5 / pos}
print("share of fraud", round(float(pos), 4), "class weights", {k: round(float(v), 2) for k, v in weights.items()})

model = keras.Sequential([
    keras.Input((12,)),
    layers.Dense(32, activation="relu"),
    layers.Dense(16, activation="relu"),
    layers.Dense(1, activation="sigmoid"),
])
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="binary_crossentropy",
    weighted_metrics=[],
    metrics=[keras.metrics.AUC(name="roc"), keras.metrics.AUC(curve="PR", name="pr"), keras.metrics.Recall(name="recall")],
)
model.fit(
    xtr, ytr, validation_data=(xva, yva), batch_size=256, epochs=15, class_weight=weights, verbose=2,
    callbacks=[keras.callbacks.EarlyStopping(monitor="val_pr", mode="max", patience=6, restore_best_weights=True)],
)

score = model.predict(xva, batch_size=1000, verbose=0)[:, 0]
order = np.argsort(-score)
for k in (50, 100, 200, 400):
    print(f"top {k}: precision {yva[order[:k]].mean():.3f} recall {yva[order[:k]].sum() / yva.sum():.3f}")
print(f"balanced accuracy {0.5 * ((score > 0.5)[yva == 1].mean() + (score <= 0.5)[yva == 0].mean()):.3f}")
