"""Next-hour water level from the last 48 gauge readings; custom learning-rate schedule."""
import math
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)

WINDOW = 48
EPOCHS = 10
BATCH = 16
PEAK_LR = 0.02


class CosineSchedule(keras.optimizers.schedules.LearningRateSchedule):
    """Half a cosine from peak down to (almost) zero."""

    def __init__(self, peak, period, floor=1e-5):
        self.peak, self.period, self.floor = peak, period, floor

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        wave = 0.5 * (1.0 + tf.cos(math.pi * step / self.period))
        return self.floor + (self.peak - self.floor) * wave

    def get_config(self):
        return {"peak": self.peak, "period": self.period, "floor": self.floor}


def gauge(hours):
    t = np.arange(hours)
    level = (1.4 * np.sin(2 * np.pi * t / 12.42) + 0.5 * np.sin(2 * np.pi * t / 12.0 + 0.7)
             + 0.3 * np.sin(2 * np.pi * t / 25.82 + 1.9))
    surge = np.zeros(hours)
    for i in range(1, hours):
        surge[i] = 0.93 * surge[i - 1] + rng.normal(0, 0.08)
    return (level + surge + rng.normal(0, 0.1, hours)).astype("float32")


def windows(series):
    x = np.lib.stride_tricks.sliding_window_view(series, WINDOW)[:-1]
    return x.copy(), series[WINDOW:, None].copy()


series = gauge(4000)
cut = 3250
mean, std = series[:cut].mean(), series[:cut].std()
series = (series - mean) / std
x_train, y_train = windows(series[:cut])
x_test, y_test = windows(series[cut:])

steps_per_epoch = len(x_train) // BATCH
train = (tf.data.Dataset.from_tensor_slices((x_train, y_train))
         .shuffle(len(x_train)).batch(BATCH, drop_remainder=True).prefetch(2))

model = keras.Sequential([
    keras.Input((WINDOW,)),
    layers.Dense(64, activation="relu"),
    layers.Dense(64, activation="relu"),
    layers.Dense(1),
])
schedule = CosineSchedule(PEAK_LR, period=EPOCHS)
model.compile(optimizer=keras.optimizers.Adam(schedule), loss="mse")


class Log(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        lr = float(self.model.optimizer.learning_rate)
        print(f"epoch {epoch + 1:02d} lr {lr:.5f} loss {logs['loss']:.4f} "
              f"val {logs['val_loss']:.4f}")


print("steps per epoch", steps_per_epoch, "total", steps_per_epoch * EPOCHS)
model.fit(train, validation_data=(x_test, y_test), validation_batch_size=256,
          epochs=EPOCHS, callbacks=[Log()], verbose=0)

pred = model.predict(x_test, batch_size=256, verbose=0)
rmse = float(np.sqrt(np.mean((pred - y_test) ** 2)) * std)
last = float(np.sqrt(np.mean((x_test[:, -1:] - y_test) ** 2)) * std)
print(f"test RMSE {rmse:.4f} m   (last reading carried forward: {last:.4f} m)")
