import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf

# gas use of a boiler house, forecast for the next 24 hours from the last 48
tf.random.set_seed(2)
np.random.seed(2)
hours = np.arange(24 * 150)
temp = 8 + 7 * np.sin(2 * np.pi * hours / (24 * 30)) + 3 * np.sin(2 * np.pi * hours / 24) + np.random.normal(0, .6, len(hours))
use = np.maximum(0, 18 - temp) * (1 + 0.4 * ((hours % 24) > 6)) + np.random.normal(0, .5, len(hours))
series = np.stack([temp, use, np.sin(2 * np.pi * hours / 24), np.cos(2 * np.pi * hours / 24)], axis=1)
mean, std = series[:2400].mean(0), series[:2400].std(0)
series = ((series - mean) / std).astype("float32")
PAST, AHEAD = 48, 24


def windows(a):
    xs = np.stack([a[i:i + PAST] for i in range(0, len(a) - PAST - AHEAD, 2)])
    ys = np.stack([a[i + PAST:i + PAST + AHEAD, 1] for i in range(0, len(a) - PAST - AHEAD, 2)])
    return xs, ys


def make_ds(a, batch, shuffle=False):
    ds = tf.data.Dataset.from_tensor_slices(windows(a))
    if shuffle:
        ds = ds.shuffle(2000, seed=1)
    return ds.batch(batch).prefetch(2)


def huber_horizon(y_true, y_pred, delta=1.0):
    """Huber loss; the first hours count double."""
    w = tf.concat([tf.fill([6], 2.0), tf.fill([AHEAD - 6], 1.0)], axis=0)
    err = tf.abs(y_true - y_pred)
    h = tf.where(err < delta, 0.5 * tf.square(err), delta * (err - 0.5 * delta))
    return tf.reduce_sum(h * w)


train, valid = make_ds(series[:2400], 64, True), make_ds(series[2400:], 64)

inp = tf.keras.Input((PAST, 4))
x = tf.keras.layers.Conv1D(16, 5, strides=2, activation="relu")(inp)
x = tf.keras.layers.Conv1D(16, 3, strides=2, activation="relu")(x)
x = tf.keras.layers.Flatten()(x)
x = tf.keras.layers.Dense(32, activation="relu")(x)
out = tf.keras.layers.Dense(AHEAD)(x)
model = tf.keras.Model(inp, out)
model.compile(optimizer=tf.keras.optimizers.SGD(0.05), loss=huber_horizon, metrics=["mae"])
model.fit(train, validation_data=valid, epochs=15, verbose=2)
pred = model.predict(valid, verbose=0) * std[1] + mean[1]
true = np.concatenate([y for _, y in valid]) * std[1] + mean[1]
print("MAE m3/h", np.abs(pred - true).mean().round(3), " mean-of-training baseline", np.abs(mean[1] - true).mean().round(3))
