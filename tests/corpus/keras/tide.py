"""Hourly load forecast with a GRU, own training loop."""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)
t = np.arange(24 * 150)
load = (50 + 12 * np.sin(2 * np.pi * t / 24) + 6 * np.sin(2 * np.pi * t / 168)
        + 4 * np.sin(4 * np.pi * t / 24 + 1) + rng.normal(0, 1.0, len(t)))
split = int(0.8 * len(t))
mu, sd = load[:split].mean(), load[:split].std()
z = ((load - mu) / sd).astype("float32")

WINDOW, HORIZON = 48, 6


def windows(series):
    n = len(series) - WINDOW - HORIZON + 1
    x = np.stack([series[k:k + WINDOW] for k in range(n)])[..., None]
    y = np.stack([series[k + WINDOW:k + WINDOW + HORIZON] for k in range(n)])
    return x, y


x_train, y_train = windows(z[:split])
x_test, y_test = windows(z[split:])
train_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(4000).batch(64)
test_ds = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(256)

model = keras.Sequential([
    keras.Input((WINDOW, 1)),
    keras.layers.GRU(24),
    keras.layers.Dense(HORIZON),
])
optimizer = keras.optimizers.Adam(4e-3)
huber = keras.losses.Huber()
train_loss = keras.metrics.Mean()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = huber(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    grads, _ = tf.clip_by_global_norm(grads, 1.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    train_loss.update_state(loss)


for epoch in range(6):
    train_loss.reset_state()
    for x, y in train_ds:
        train_step(x, y)
    errors = [np.abs(model(x, training=False).numpy() - y.numpy()) for x, y in test_ds]
    mae = np.concatenate(errors).mean() * sd
    print(f"epoch {epoch + 1}  huber {float(train_loss.result()):.4f}  test mae {mae:.2f}")

naive = np.abs(y_test - x_test[:, -24:-24 + HORIZON, 0]).mean() * sd
print(f"same hour yesterday: mae {naive:.2f}")
