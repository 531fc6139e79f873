import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)

# hourly load: daily cycle + weekly cycle + noise
hours = np.arange(24 * 7 * 14)
load = (np.sin(2 * np.pi * hours / 24) + 0.5 * np.sin(2 * np.pi * hours / (24 * 7))
        + 0.15 * rng.normal(size=hours.size)).astype("float32")
load = (load - load.mean()) / load.std()

WINDOW = 48
x = np.stack([load[i:i + WINDOW] for i in range(len(load) - WINDOW)])[..., None]
y = load[WINDOW:][:, None]
split = int(0.8 * len(x))
train = tf.data.Dataset.from_tensor_slices((x[:split], y[:split])).shuffle(split, seed=1)
train = train.batch(16, drop_remainder=True)
test = tf.data.Dataset.from_tensor_slices((x[split:], y[split:])).batch(128)

model = keras.Sequential([
    keras.Input((WINDOW, 1)),
    layers.Conv1D(16, 5, strides=2, activation="relu"),
    layers.Conv1D(32, 5, strides=2, activation="relu"),
    layers.Flatten(),
    layers.Dense(32, activation="relu"),
    layers.Dense(1),
])
optimizer = keras.optimizers.Adam(1e-3)
loss_fn = keras.losses.MeanSquaredError()
ACCUM = 4
buffers = [tf.Variable(tf.zeros_like(w), trainable=False) for w in model.trainable_variables]


@tf.function
def accumulate(xb, yb):
    with tf.GradientTape() as tape:
        loss = loss_fn(yb, model(xb, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    for buf, g in zip(buffers, grads):
        buf.assign_add(g / ACCUM)
    return loss


@tf.function
def apply():
    optimizer.apply_gradients(zip(buffers, model.trainable_variables))


for epoch in range(12):
    running = keras.metrics.Mean()
    for step, (xb, yb) in enumerate(train):
        running.update_state(accumulate(xb, yb))
        if (step + 1) % ACCUM == 0:
            apply()
    errors = [np.abs(model(xb, training=False) - yb).ravel() for xb, yb in test]
    print(f"epoch {epoch + 1:2d}  train mse {float(running.result()):.4f}  "
          f"test mae {np.concatenate(errors).mean():.4f}")
