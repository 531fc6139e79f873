"""Predict a gas compressor's power draw (kW) from its hourly telemetry; the last season is held back."""
import argparse

import numpy as np
import tensorflow as tf
from sklearn.metrics import r2_score
from sklearn.preprocessing import StandardScaler

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=25)
parser.add_argument("--lr", type=float, default=3e-3)
parser.add_argument("--batch", type=int, default=128)
parser.add_argument("--seed", type=int, default=5)
args = parser.parse_args()

tf.random.set_seed(args.seed)
np.random.seed(args.seed)


def telemetry(days=800, step=3):
    hours = np.arange(0, days * 24, step)
    season = np.sin(2 * np.pi * (hours / 24 - 80) / 365)
    temp = 14 + 12 * season + 4 * np.sin(2 * np.pi * hours / 24) + np.random.randn(len(hours)) * 2
    load = np.clip(0.6 + 0.2 * np.sin(2 * np.pi * hours / 168) + 0.12 * np.random.randn(len(hours)), 0.1, 1.0)
    suction = 3.0 + 0.3 * np.random.randn(len(hours)) - 0.4 * season
    ratio = 2.2 + 0.4 * np.random.rand(len(hours))
    humidity = np.clip(60 - 15 * season + 8 * np.random.randn(len(hours)), 5, 100)
    x = np.stack([temp, load, suction, ratio, humidity], 1)
    power = 180 * load * (ratio - 1) ** 0.5 * (1 + 0.02 * (temp - 14)) + 25 * suction + 1.2 * temp
    return x.astype("float32"), (power + 3 * np.random.randn(len(hours))).astype("float32")[:, None]


x, y = telemetry()
cut = int(len(x) * 0.93)
x_train, x_test = x[:cut], x[cut:]
y_train, y_test = y[:cut], y[cut:]

scaler = StandardScaler()
x_train = scaler.fit_transform(x_train)
x_test = scaler.transform(x_test)
y_scaler = StandardScaler()
y_train = y_scaler.fit_transform(y_train)

net = tf.keras.Sequential([
    tf.keras.layers.Dense(48, activation="swish"),
    tf.keras.layers.Dense(48, activation="swish"),
    tf.keras.layers.Dense(1),
])
net.build((None, x_train.shape[1]))
opt = tf.keras.optimizers.Adam(args.lr)


@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(xb, training=True) - yb))
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(len(x_train)).batch(args.batch)
for epoch in range(args.epochs):
    losses = [float(step(xb, yb)) for xb, yb in data]
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1:3d}  mse {np.mean(losses):.4f}")

pred_train = y_scaler.inverse_transform(net(x_train).numpy())
pred_test = y_scaler.inverse_transform(net(x_test).numpy())
print("train R2 %.3f" % r2_score(y_scaler.inverse_transform(y_train), pred_train))
print("test  R2 %.3f   MAE %.1f kW" % (r2_score(y_test, pred_test), np.abs(pred_test - y_test).mean()))
