"""Next-hour load forecasting with a small GRU, written with a GradientTape loop."""
import os

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(5)
WINDOW = 24
BATCH = 64


def make_series(hours=4200, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    daily = np.sin(2 * np.pi * (t - 7) / 24) + 0.4 * np.sin(4 * np.pi * t / 24)
    weekly = np.where((t // 24) % 7 >= 5, -0.5, 0.15)
    temp = np.zeros(hours)
    for i in range(1, hours):
        temp[i] = 0.97 * temp[i - 1] + rng.normal(0, 0.15)
    load = 50 + 9 * daily + 8 * weekly + 6 * temp + rng.normal(0, 0.8, hours)
    hour = np.stack([np.sin(2 * np.pi * t / 24), np.cos(2 * np.pi * t / 24)], axis=1)
    return load.astype("float32"), hour.astype("float32")


def windows(load, hour):
    feats = np.concatenate([load[:, None], hour], axis=1)
    xs = np.stack([feats[i:i + WINDOW] for i in range(len(load) - WINDOW)])
    ys = load[WINDOW:]
    return xs, ys


load, hour = make_series()
n_train = int(0.75 * len(load))
mu, sigma = load[:n_train].mean(), load[:n_train].std()
scaled = (load - mu) / sigma
x_train, y_train = windows(scaled[:n_train], hour[:n_train])
x_test, y_test = windows(scaled[n_train:], hour[n_train:])
print("train", x_train.shape, y_train.shape, "test", x_test.shape, y_test.shape)

train_ds = (tf.data.Dataset.from_tensor_slices((x_train, y_train))
            .shuffle(len(x_train), seed=5)
            .batch(BATCH, drop_remainder=True)
            .prefetch(2))


class Forecaster(keras.Model):
    def __init__(self, units=32):
        super().__init__()
        self.gru = keras.layers.GRU(units, unroll=True)
        self.hidden = keras.layers.Dense(16, activation="relu")
        self.out = keras.layers.Dense(1)

    def call(self, x):
        return self.out(self.hidden(self.gru(x)))


model = Forecaster()
optimizer = keras.optimizers.Adam(3e-3, clipnorm=1.0)
train_loss = keras.metrics.Mean()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        pred = tf.squeeze(model(x, training=True), axis=-1)
        loss = tf.reduce_mean(tf.square(y - pred))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    train_loss.update_state(loss)


def test_rmse():
    pred = model.predict(x_test, batch_size=256, verbose=0).ravel()
    return float(np.sqrt(np.mean((pred - y_test) ** 2)) * sigma)


model(x_train[:1])
for epoch in range(6):
    train_loss.reset_state()
    for xb, yb in train_ds:
        train_step(xb, yb)
    print(f"epoch {epoch + 1}: mse {float(train_loss.result()):.4f}  test rmse {test_rmse():.2f} MW")
    if epoch == 3:
        optimizer.learning_rate.assign(1e-3)

os.makedirs("out", exist_ok=True)
model.save_weights("out/power.weights.h5")
mean_rmse = float(np.sqrt(np.mean(y_test ** 2)) * sigma)
last = float(np.sqrt(np.mean((x_test[:, -1, 0] - y_test) ** 2)) * sigma)
print(f"final test rmse {test_rmse():.2f} MW | train mean {mean_rmse:.2f} | last hour {last:.2f}")
