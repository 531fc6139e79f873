"""DeepSurv-like Cox model for the failure of pumps, with right censoring."""
import os

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
from keras import layers, ops

SEED = 31
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def pumps(n):
    x = rng.normal(size=(n, 8)).astype("float32")
    risk = 1.2 * x[:, 0] - 0.8 * x[:, 1] + 1.0 * x[:, 2] * x[:, 3]
    failure = rng.exponential(np.exp(-risk) * 900.0)
    end_of_study = rng.uniform(50, 2500, n)
    seen = failure <= end_of_study
    y = np.stack([np.minimum(failure, end_of_study), seen], axis=1)
    return x, y.astype("float32")


def partial_likelihood(y, score):
    """Negative log partial likelihood (Breslow); the rows of a batch are each other's risk set."""
    time, seen = y[:, 0], y[:, 1]
    score = score[:, 0]
    at_risk = ops.cast(time[None, :] >= time[:, None], score.dtype)
    masked = score[None, :] + (1.0 - at_risk) * -1e9
    log_sum = ops.logsumexp(masked, axis=1)
    return -ops.sum((score - log_sum) * seen) / ops.maximum(ops.sum(seen), 1.0)


def concordance(y, score):
    time, seen = y[:, 0], y[:, 1].astype(bool)
    earlier = (time[:, None] < time[None, :]) & seen[:, None]
    diff = score[:, None] - score[None, :]
    return float(((diff > 0) & earlier).sum() / earlier.sum())


class Concordance(keras.callbacks.Callback):
    def __init__(self, x, y):
        super().__init__()
        self.x, self.y = x, y

    def on_epoch_end(self, epoch, logs=None):
        logs["val_cindex"] = concordance(self.y, self.model.predict(self.x, verbose=0, batch_size=512)[:, 0])


x, y = pumps(3000)
x_val, y_val = pumps(600)
x_test, y_test = pumps(600)
print("censored share", round(float(1 - y[:, 1].mean()), 2))

model = keras.Sequential(
    [
        keras.Input((8,)),
        layers.Dense(48, activation="selu", kernel_initializer="lecun_normal"),
        layers.Dense(48, activation="selu", kernel_initializer="lecun_normal"),
        layers.Dense(1, use_bias=False),
    ]
)
model.compile(optimizer=keras.optimizers.Nadam(1e-3, clipnorm=1.0), loss=partial_likelihood)
model.fit(
    x,
    y,
    batch_size=250,
    epochs=40,
    verbose=2,
    callbacks=[
        Concordance(x_val, y_val),
        keras.callbacks.EarlyStopping("val_cindex", mode="max", patience=8, restore_best_weights=True),
    ],
)
print("test concordance", round(concordance(y_test, model.predict(x_test, verbose=0)[:, 0]), 3))
