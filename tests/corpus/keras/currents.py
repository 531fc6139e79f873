"""Classify which appliance is running from a window of its current."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from tensorflow import keras


@dataclass
class Config:
    window: int = 64
    classes: int = 5
    rows: int = 3000
    batch: int = 128
    epochs: int = 10
    rate: float = 0.05
    momentum: float = 0.5
    seed: int = 9


cfg = Config()
keras.utils.set_random_seed(cfg.seed)


def load(cfg):
    rng = np.random.default_rng(cfg.seed)
    t = np.arange(cfg.window) / cfg.window
    y = rng.integers(0, cfg.classes, cfg.rows)
    harmonics = rng.normal(0, 1, (cfg.classes, 6))
    shift = rng.uniform(0, 0.15, (cfg.rows, 1))
    x = sum(harmonics[y, k][:, None] * np.sin(2 * np.pi * (k + 1) * (t + shift)) for k in range(6))
    x = (x + rng.normal(0, 1.0, x.shape)) / 2
    return x.astype("float32"), y.astype("int32")


x, y = load(cfg)
cut = int(0.8 * len(x))
train = tf.data.Dataset.from_tensor_slices((x[:cut], y[:cut])).shuffle(cut).batch(cfg.batch)
test = tf.data.Dataset.from_tensor_slices((x[cut:], y[cut:])).batch(256)

model = keras.Sequential([
    keras.layers.Input((cfg.window,)),
    keras.layers.Dense(64, activation="relu"),
    keras.layers.Dense(64, activation="relu"),
    keras.layers.Dense(cfg.classes),
])
optimizer = keras.optimizers.SGD(cfg.rate, momentum=cfg.momentum)
train_loss = keras.metrics.Mean()
accuracy = keras.metrics.SparseCategoricalAccuracy()


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        logits = model(xb, training=True)
        loss = keras.losses.sparse_categorical_crossentropy(yb, logits, from_logits=True)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    train_loss.update_state(loss)


for epoch in range(cfg.epochs):
    train_loss.reset_state()
    accuracy.reset_state()
    for xb, yb in train:
        train_step(xb, yb)
    for xb, yb in test:
        accuracy.update_state(yb, model(xb, training=False))
    print(f"epoch {epoch + 1}: loss {train_loss.result():.4f}  test acc {accuracy.result():.4f}")
