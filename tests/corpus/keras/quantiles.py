"""Tide height three steps ahead as a 10 / 50 / 90 % band."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

keras.utils.set_random_seed(8)
LOOKBACK, AHEAD = 36, 3
QS = np.array([[0.1, 0.5, 0.9]], dtype="float32")


@keras.saving.register_keras_serializable()
class Pinball(keras.losses.Loss):
    def call(self, y_true, y_pred):
        err = ops.cast(y_true, y_pred.dtype) - y_pred      # (batch, 1) against (batch, 3)
        return ops.mean(ops.maximum(QS * err, (QS - 1.0) * err), axis=-1)


class Coverage(keras.metrics.Metric):
    def __init__(self, name="coverage", **kw):
        super().__init__(name=name, **kw)
        self.hits = self.add_weight(name="hits", initializer="zeros")
        self.seen = self.add_weight(name="seen", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        y = ops.cast(y_true[:, 0], y_pred.dtype)
        inside = ops.logical_and(y >= y_pred[:, 0], y <= y_pred[:, 2])
        self.hits.assign_add(ops.sum(ops.cast(inside, "float32")))
        self.seen.assign_add(ops.cast(ops.shape(y)[0], "float32"))

    def result(self):
        return self.hits / ops.maximum(self.seen, 1.0)

    def reset_state(self):
        self.hits.assign(0.0)
        self.seen.assign(0.0)


class OrderedBand(layers.Layer):
    """Lower edge, then two positive gaps: the quantiles cannot cross."""

    def build(self, shape):
        self.edge = layers.Dense(1)
        self.gaps = layers.Dense(2, activation="softplus")
        self.edge.build(shape)
        self.gaps.build(shape)

    def call(self, h):
        return ops.cumsum(ops.concatenate([self.edge(h), self.gaps(h)], axis=-1), axis=-1)


t = np.arange(9000)
g = np.random.default_rng(2)
noise = g.normal(0, 1, len(t)) * (0.12 + 0.1 * (np.sin(2 * np.pi * t / 400) > 0))
series = 1.6 * np.sin(2 * np.pi * t / 24.8) + 0.7 * np.sin(2 * np.pi * t / 12.4 + 1) \
    + 0.3 * np.sin(2 * np.pi * t / 650) + noise
cut = 7000
mean, std = series[:cut].mean(), series[:cut].std()
series = ((series - mean) / std).astype("float32")


def windows(part, shuffle):
    last = len(part) - LOOKBACK - AHEAD + 1
    targets = part[LOOKBACK + AHEAD - 1:][:last, None]
    return keras.utils.timeseries_dataset_from_array(
        part[:last + LOOKBACK - 1, None], targets, sequence_length=LOOKBACK, batch_size=64, shuffle=shuffle, seed=1)


train_ds, val_ds = windows(series[:cut], True), windows(series[cut:], False)
for xb, yb in train_ds.take(1):
    print("batch:", xb.shape, yb.shape)

model = keras.Sequential([
    keras.Input((LOOKBACK, 1)),
    layers.GRU(32),
    layers.Dense(32, activation="relu"),
    OrderedBand(),
])
model.compile(keras.optimizers.Adam(2e-3), loss=Pinball(), metrics=[Coverage()])
model.fit(train_ds, validation_data=val_ds, epochs=6, verbose=2)

band = model.predict(val_ds, verbose=0)
truth = np.concatenate([yb.numpy() for _, yb in val_ds])[:, 0]
naive = np.mean(np.abs(series[cut:][AHEAD:] - series[cut:][:-AHEAD]))
print(f"MAE of the median {np.mean(np.abs(truth - band[:, 1])):.3f}   persistence {naive:.3f}")
print(f"below 10%: {np.mean(truth < band[:, 0]):.3f}   above 90%: {np.mean(truth > band[:, 2]):.3f}")
