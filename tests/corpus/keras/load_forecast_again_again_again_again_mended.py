import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

WINDOW, HORIZON = 48, 6


def substation_load(hours=2600, seed=4):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    daily = 0.22 * np.sin(2 * np.pi * t / 24) + 0.08 * np.sin(4 * np.pi * t / 24 + 0.7)
    weekly = 0.07 * np.sin(2 * np.pi * t / 168)
    noise = np.zeros(hours)
    for i in range(1, hours):
        noise[i] = 0.8 * noise[i - 1] + rng.normal(0, 0.015)
    return np.clip(0.5 + daily + weekly + noise, 0.02, 0.99).astype("float32")


def cut_windows(series):
    starts = np.arange(0, len(series) - WINDOW - HORIZON)
    x = np.stack([series[s:s + WINDOW] for s in starts])[..., None]
    target = np.zeros(len(starts), dtype="float32")
    for i, s in enumerate(starts):
        target[i] = series[s + WINDOW + HORIZON - 1]
    return x, target.reshape(-1, 1), starts + WINDOW + HORIZON - 1


class Forecaster:
    def __init__(self, lr=2e-3, batch=64, epochs=8):
        self.batch, self.epochs = batch, epochs
        inp = keras.Input((WINDOW, 1))
        h = layers.Conv1D(24, 5, strides=2, activation="relu")(inp)
        h = layers.GRU(24)(h)
        self.net = keras.Model(inp, layers.Dense(1)(h))
        self.optimizer = keras.optimizers.Adam(lr)
        self.mse = keras.losses.MeanSquaredError()

    @tf.function
    def _step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.mse(y, self.net(x, training=True))
        grads = tape.gradient(loss, self.net.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 1.0)
        self.optimizer.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss

    def fit(self, x, y):
        ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x)).batch(self.batch)
        for epoch in range(self.epochs):
            running = [float(self._step(xb, yb)) for xb, yb in ds]
            print(f"epoch {epoch + 1}: train mse {np.mean(running):.5f}")
        return self

    def predict(self, x):
        return self.net.predict(x, batch_size=256, verbose=0)[:, 0]


def main():
    keras.utils.set_random_seed(21)
    series = substation_load()
    x, y, when = cut_windows(series)
    cut = int(0.8 * len(x))
    model = Forecaster().fit(x[:cut], y[:cut])
    test = slice(cut + WINDOW, None)
    forecast = model.predict(x[test])
    actual = series[when[test]]
    mae = np.mean(np.abs(forecast - actual))
    r2 = 1 - np.sum((forecast - actual) ** 2) / np.sum((actual - actual.mean()) ** 2)
    last = np.mean(np.abs(x[test][:, -1, 0] - actual))
    print(f"forecast for +{HORIZON}h: MAE {mae:.4f}  R2 {r2:.3f}  (repeat last value: MAE {last:.4f})")
    print("first forecasts", np.round(forecast[:5], 3), "actual", np.round(actual[:5], 3))


if __name__ == "__main__":
    main()
