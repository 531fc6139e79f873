import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import pandas as pd
import tensorflow as tf
from tensorflow import keras
from sklearn.metrics import average_precision_score, recall_score

keras.utils.set_random_seed(19)
rng = np.random.default_rng(19)
N = 12000
df = pd.DataFrame({
    "rain_mm": rng.gamma(3, 30, N),
    "limestone": rng.beta(2, 3, N),
    "pumping": rng.lognormal(1, 0.7, N),
    "slope": rng.uniform(0, 30, N),
    "depth": rng.normal(20, 6, N),
    "roads": rng.poisson(2, N).astype(float),
})
z = 0.03 * df.rain_mm + 7 * df.limestone + 0.6 * df.pumping - 0.1 * df.depth - 0.05 * df.slope
df["collapsed"] = (z + rng.normal(0, 0.5, N) > np.quantile(z, 0.97)).astype(int)
df = df.sort_values("collapsed").reset_index(drop=True)
df = df.sample(frac=1.0, random_state=19)

train, val, test = np.split(df.to_numpy("float32"), [8000, 10000])
mu, sd = train[:, :-1].mean(0), train[:, :-1].std(0)
prep = lambda m: (np.clip((m[:, :-1] - mu) / sd, -5, 5), m[:, -1:])
(x_tr, y_tr), (x_va, y_va), (x_te, y_te) = prep(train), prep(val), prep(test)

pos = y_tr.sum()
neg = len(y_tr) - pos
class_weight = {0: len(y_tr) / neg / 2, 1: len(y_tr) / pos / 2}
print("positives", int(pos), "of", len(y_tr), class_weight)

model = keras.Sequential([
    keras.Input((x_tr.shape[1],)),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dropout(0.2),
    keras.layers.Dense(1, activation="sigmoid",
                       bias_initializer=keras.initializers.Constant(float(np.log(pos / neg)))),
])
model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss="binary_crossentropy",
    metrics=[keras.metrics.AUC(curve="PR", name="prc"), keras.metrics.Recall(name="recall")],
)
stop = keras.callbacks.EarlyStopping(monitor="val_prc", mode="max", patience=6, restore_best_weights=True)
model.fit(x_tr, y_tr, validation_data=(x_va, y_va), batch_size=256, epochs=25,
          class_weight=class_weight, callbacks=[stop], verbose=2)

prob = model.predict(x_te, batch_size=512, verbose=0)[:, 0]
print("test average precision", average_precision_score(y_te[:, 0], prob), "base rate", y_te.mean())
print("test recall", recall_score(y_te[:, 0], prob > 0.5))
