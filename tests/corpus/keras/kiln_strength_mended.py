"""Compressive strength of bricks from kiln settings: a small TF regressor with its own loop."""
import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=60)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--lr", type=float, default=3e-3)
parser.add_argument("--patience", type=int, default=15)
opts = parser.parse_args()
tf.keras.utils.set_random_seed(17)


def firing_records(n=3000):
    rng = np.random.default_rng(17)
    peak = rng.normal(1040, 45, n)
    soak = rng.uniform(2, 12, n)
    ramp = rng.uniform(40, 140, n)
    clay = rng.beta(5, 3, n)
    moisture = rng.normal(14, 2.5, n)
    sand = rng.uniform(0, 0.3, n)
    oxygen = rng.uniform(1, 12, n)
    sinter = 1 / (1 + np.exp(-(peak - 1020) / 30)) * np.sqrt(soak)
    strength = 9 + 11 * sinter * clay - 0.06 * (ramp - 70).clip(0) - 0.5 * np.abs(moisture - 13)
    strength += 6 * np.sin(6 * sand) - 0.2 * oxygen + rng.normal(0, 1.0, n)
    x = np.column_stack([peak, soak, ramp, clay, moisture, sand, oxygen])
    return x.astype("float32"), strength.astype("float32")


x, y = firing_records()
cut1, cut2 = 2000, 2400
mean, std = x[:cut1].mean(0), x[:cut1].std(0)
y_mean, y_std = y[:cut1].mean(), y[:cut1].std()
x = (x - mean) / std
z = (y - y_mean) / y_std

train = (tf.data.Dataset.from_tensor_slices((x[:cut1], z[:cut1]))
         .shuffle(cut1, seed=1).batch(opts.batch, drop_remainder=True).prefetch(2))

model = tf.keras.Sequential([
    tf.keras.layers.Input((x.shape[1],)),
    tf.keras.layers.Dense(64, activation="swish"),
    tf.keras.layers.Dense(64, activation="swish"),
    tf.keras.layers.Dense(1),
])
optimizer = tf.keras.optimizers.Adam(opts.lr)


@tf.function
def train_step(features, target):
    with tf.GradientTape() as tape:
        pred = model(features, training=True)
        loss = tf.reduce_mean(tf.square(target - tf.squeeze(pred, -1)))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def strength(features):
    return model(features, training=False).numpy().ravel() * y_std + y_mean


def rmse(a, b):
    return float(np.sqrt(np.mean((a - b) ** 2)))


best, best_weights, waited = np.inf, model.get_weights(), 0
for epoch in range(1, opts.epochs + 1):
    losses = [float(train_step(f, t)) for f, t in train]
    val = rmse(strength(x[cut1:cut2]), y[cut1:cut2])
    if val < best - 1e-3:
        best, best_weights, waited = val, model.get_weights(), 0
    else:
        waited += 1
    if epoch % 10 == 0 or epoch == 1:
        print(f"epoch {epoch:3d}  loss {np.mean(losses):.4f}  val RMSE {val:.2f} MPa")
    if waited >= opts.patience:
        print(f"stopped after epoch {epoch}")
        break

model.set_weights(best_weights)
pred, truth = strength(x[cut2:]), y[cut2:]
r2 = 1 - np.sum((pred - truth) ** 2) / np.sum((truth - truth.mean()) ** 2)
print(f"test RMSE {rmse(pred, truth):.2f} MPa, R2 {r2:.3f}  (mean predictor {rmse(y_mean, truth):.2f} MPa)")
