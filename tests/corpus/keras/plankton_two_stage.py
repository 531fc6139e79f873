"""Plankton silhouettes: pretrain an encoder on rotation prediction, then adapt the whole net to the species labels."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

CONFIG = {"seed": 31, "size": 20, "species": 6, "unlabelled": 1200, "labelled": 900, "test": 600,
          "batch": 32, "pre_epochs": 3, "pre_lr": 1e-3, "ft_epochs": 8, "ft_lr": 2e-3, "warmup": 20}


def silhouettes(n, cfg, rng):
    s = cfg["size"]
    yy, xx = np.mgrid[:s, :s] - (s - 1) / 2
    y = rng.integers(0, cfg["species"], n)
    x = np.empty((n, s, s, 1), "float32")
    for i, c in enumerate(y):
        dx, dy = rng.normal(0, 1.0, 2)
        r, a = np.hypot(xx - dx, yy - dy), np.arctan2(yy - dy, xx - dx)
        edge = 5.5 + 2.0 * np.cos((c % 3 + 2) * a + rng.normal(0, 0.2))
        body = 1 / (1 + np.exp(2 * (r - edge)))
        if c >= 3:
            body *= 1 - np.exp(-((r - 2) ** 2) / 2)
        body *= 1 + 0.4 * (xx > 0) * (yy < 0)
        x[i, ..., 0] = body + rng.normal(0, 0.25, (s, s))
    return x, y.astype("int32")


def make_encoder(cfg):
    return keras.Sequential([
        keras.Input((cfg["size"], cfg["size"], 1)),
        layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
        layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
        layers.Conv2D(48, 3, strides=2, padding="same", activation="relu"),
        layers.Flatten(), layers.Dense(64, activation="relu")], name="encoder")


def pretrain(encoder, images, cfg):
    rotated = np.concatenate([np.rot90(images, k, axes=(1, 2)) for k in range(4)])
    turns = np.repeat(np.arange(4), len(images))
    model = keras.Sequential([encoder, layers.Dense(4)])
    model.compile(keras.optimizers.Adam(cfg["pre_lr"]), keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"])
    ds = tf.data.Dataset.from_tensor_slices((rotated, turns)).shuffle(len(turns)).batch(64)
    hist = model.fit(ds, epochs=cfg["pre_epochs"], verbose=0)
    print("rotation accuracy", [round(a, 3) for a in hist.history["accuracy"]])


class Adapt(keras.Model):
    def __init__(self, encoder, n_out, noise=0.1):
        super().__init__()
        self.noise, self.encoder = layers.GaussianNoise(noise), encoder
        self.head = layers.Dense(n_out)
        self.seen_loss = keras.metrics.Mean(name="species_loss")

    def call(self, x, training=False):
        return self.head(self.encoder(self.noise(x, training=training)))

    def train_step(self, data):
        x, y = data
        x = tf.image.random_flip_left_right(x)
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x, y, self(x, training=True))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.seen_loss.update_state(loss)
        return {"species_loss": self.seen_loss.result()}


def finetune(encoder, x, y, cfg):
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x)).batch(cfg["batch"])
    schedule = keras.optimizers.schedules.CosineDecay(
        0.0, decay_steps=cfg["ft_epochs"], warmup_target=cfg["ft_lr"], warmup_steps=cfg["warmup"])
    model = Adapt(encoder, cfg["species"])
    model.compile(keras.optimizers.Adam(schedule), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    hist = model.fit(ds, epochs=cfg["ft_epochs"], verbose=0)
    print("species loss", [round(float(v), 3) for v in hist.history["species_loss"]])
    return model


if __name__ == "__main__":
    cfg = CONFIG
    keras.utils.set_random_seed(cfg["seed"])
    rng = np.random.default_rng(cfg["seed"])
    encoder = make_encoder(cfg)
    pretrain(encoder, silhouettes(cfg["unlabelled"], cfg, rng)[0], cfg)
    model = finetune(encoder, *silhouettes(cfg["labelled"], cfg, rng), cfg)
    x, y = silhouettes(cfg["test"], cfg, rng)
    print(f"test accuracy {np.mean(model.predict(x, verbose=0).argmax(1) == y):.3f}")
