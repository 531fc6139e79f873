"""Predict the heating demand of buildings; own training loop with tf.GradientTape."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(23)
rng = np.random.default_rng(21)


def make_buildings(n):
    area = rng.uniform(60, 400, n)
    insulation = rng.uniform(0.2, 1.4, n)
    glazing = rng.uniform(0.05, 0.5, n)
    outside = rng.normal(6, 5, n)
    occupants = rng.poisson(3, n) + 1
    demand = area * (insulation + 1.5 * glazing) * (20 - outside) / 60 - 2.0 * occupants
    demand += rng.normal(0, 4, n)
    return np.stack([area, insulation, glazing, outside, occupants], axis=1), demand


features, demand = make_buildings(4000)
n_train = 3200
mu, sd = features[:n_train].mean(0), features[:n_train].std(0)
X = ((features - mu) / sd).astype("float32")
y_mu, y_sd = demand[:n_train].mean(), demand[:n_train].std()
y = ((demand - y_mu) / y_sd).astype("float32").reshape(-1, 1)

inputs = keras.Input(shape=(X.shape[1],))
h = keras.layers.Dense(64, activation="relu")(inputs)
h = keras.layers.Dense(64, activation="relu")(h)
outputs = keras.layers.Dense(1, activation="relu")(h)
model = keras.Model(inputs, outputs)

optimizer = keras.optimizers.Adam(2e-3)
loss_fn = keras.losses.MeanSquaredError()
train_ds = tf.data.Dataset.from_tensor_slices((X[:n_train], y[:n_train])).shuffle(n_train, seed=1).batch(64)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        loss = loss_fn(yb, model(xb, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


tracker = keras.metrics.Mean()
for epoch in range(15):
    tracker.reset_state()
    for xb, yb in train_ds:
        tracker.update_state(train_step(xb, yb))
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1}: mse {float(tracker.result()):.4f}")

pred = model(X[n_train:], training=False).numpy()
truth = y[n_train:]
r2 = 1 - np.sum((truth - pred) ** 2) / np.sum((truth - truth.mean()) ** 2)
mae = np.abs(truth - pred).mean() * y_sd
print(f"test R2 {r2:.3f}, mean absolute error {mae:.1f} kWh")
