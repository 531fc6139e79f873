"""Next-hour load of a district heating plant from the last 36 hours (Keras)."""
import math
import os

import keras
import numpy as np
from keras import layers

SEED = 3
WINDOW = 36
EPOCHS = 30
BATCH = 64
BASE_LR = 0.02
os.makedirs("out", exist_ok=True)
keras.utils.set_random_seed(SEED)


def simulate(hours=4200, seed=SEED):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    temp = 5 + 8 * np.sin(2 * np.pi * t / (24 * 90)) + 4 * np.sin(2 * np.pi * (t - 14) / 24)
    ar = np.zeros(hours)
    for i in range(1, hours):
        ar[i] = 0.97 * ar[i - 1] + rng.normal(0, 0.5)
    temp = temp + ar
    hour = t % 24
    weekend = ((t // 24) % 7) >= 5
    shape = np.exp(-0.5 * ((hour - 7) / 1.5) ** 2) + 0.7 * np.exp(-0.5 * ((hour - 19) / 2.0) ** 2)
    late = np.exp(-0.5 * ((hour - 10) / 2.0) ** 2) + 0.6 * np.exp(-0.5 * ((hour - 19) / 2.0) ** 2)
    load = np.maximum(0, 17 - temp) * 1.2 + 12 * np.where(weekend, late, shape)
    load = load + rng.normal(0, 0.6, hours)
    feats = np.stack(
        [load, temp, np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24), weekend], axis=1
    )
    return feats.astype("float32")


def windows(feats):
    x = np.lib.stride_tricks.sliding_window_view(feats, WINDOW, axis=0)[:-1]
    x = np.ascontiguousarray(x.transpose(0, 2, 1))
    y = feats[WINDOW:, 0]
    return x, y


def step_decay(epoch, lr):
    """Exponential decay, called by Keras at the start of every epoch."""
    return lr * math.exp(-0.08 * epoch)


class EveryFive(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch % 5 == 0 or epoch == EPOCHS - 1:
            print(
                f"[{epoch:02d}] mse {logs['loss']:.4f}  val_mse {logs['val_loss']:.4f}",
                flush=True,
            )


feats = simulate()
cut1, cut2 = int(0.7 * len(feats)), int(0.85 * len(feats))
mu, sd = feats[:cut1].mean(0), feats[:cut1].std(0)
scaled = (feats - mu) / sd
x_tr, y_tr = windows(scaled[:cut1])
x_va, y_va = windows(scaled[cut1:cut2])
x_te, y_te = windows(scaled[cut2:])
print("windows:", x_tr.shape, x_va.shape, x_te.shape)

model = keras.Sequential(
    [
        keras.Input((WINDOW, feats.shape[1])),
        layers.Flatten(),
        layers.Dense(64, activation="tanh"),
        layers.Dense(32, activation="tanh"),
        layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.SGD(BASE_LR), loss="mse")
model.fit(
    x_tr,
    y_tr,
    batch_size=BATCH,
    epochs=EPOCHS,
    validation_data=(x_va, y_va),
    callbacks=[keras.callbacks.LearningRateScheduler(step_decay), EveryFive()],
    verbose=0,
)

pred = model.predict(x_te, verbose=0).ravel()
rmse = float(np.sqrt(np.mean((pred - y_te) ** 2)) * sd[0])
naive = float(np.sqrt(np.mean((x_te[:, -1, 0] - y_te) ** 2)) * sd[0])
daily = float(np.sqrt(np.mean((x_te[:, -24, 0] - y_te) ** 2)) * sd[0])
print(f"test RMSE {rmse:.3f} MW | last hour {naive:.3f} | same hour yesterday {daily:.3f}")
np.save("out/heat_pred.npy", pred)
