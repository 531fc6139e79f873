import time

import numpy as np
import tensorflow as tf
import keras
from keras import layers

SEED = 8
keras.utils.set_random_seed(SEED)


def spectrograms(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    t = np.arange(32)
    x = rng.normal(0, 0.6, (n, 32, 32))
    for i in range(n):
        start = rng.integers(6, 20)
        slope = [0.5, -0.5, 0.0, None][y[i]]
        pitch = start + (8 * np.sin(t / 3) * 0.6 if slope is None else slope * (t - 16) * 0.8)
        rows = np.clip(np.round(pitch), 0, 31).astype(int)
        on = slice(rng.integers(0, 6), 32 - rng.integers(0, 6))
        x[i, rows[on], t[on]] += 2.0
    return x[..., None].astype("float32"), y.astype("int32")


encoder = keras.Sequential([
    layers.Input((32, 32, 1)),
    layers.Conv2D(8, 3, activation="relu", padding="same"),
    layers.MaxPooling2D(2),
    layers.Conv2D(16, 3, activation="relu", padding="same"),
    layers.MaxPooling2D(2),
    layers.Conv2D(24, 3, activation="relu", padding="same"),
    layers.GlobalAveragePooling2D(),
    layers.Dense(16),
], name="encoder")
head = keras.Sequential([layers.Input((16,)), layers.LayerNormalization(), layers.Dense(4)], name="head")

loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.AdamW(4e-3, weight_decay=1e-4)
weights = encoder.trainable_variables + head.trainable_variables

x_train, y_train = spectrograms(1200, 1)
x_test, y_test = spectrograms(300, 2)
train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(1200, seed=SEED).batch(32)


@tf.function
def step(xb, yb):
    z = encoder(xb, training=True)
    with tf.GradientTape() as tape:
        logits = head(z, training=True)
        loss = loss_fn(yb, logits)
    grads = tape.gradient(loss, weights)
    optimizer.apply_gradients(zip(grads, weights))
    return loss


for epoch in range(1, 9):
    began = time.time()
    mean = keras.metrics.Mean()
    for xb, yb in train:
        mean.update_state(step(xb, yb))
    logits = head(encoder(x_test, training=False), training=False)
    acc = np.mean(np.argmax(logits, axis=1) == y_test)
    print(f"epoch {epoch}  loss {float(mean.result()):.4f}  test acc {acc:.3f}  {time.time() - began:.1f}s")
