"""Keyword spotting on synthetic log-mel patches with a custom TF training loop."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from dataclasses import dataclass

import keras
import numpy as np
import tensorflow as tf
from keras import layers

KEYWORDS = ["go", "stop", "left", "right", "up", "down"]


@dataclass
class Config:
    per_class_train: int = 260
    per_class_val: int = 60
    frames: int = 24
    mels: int = 16
    batch: int = 32
    val_batch: int = 4
    epochs: int = 8
    lr: float = 2e-3
    seed: int = 4


def render(keyword, n, cfg, rng):
    """Two formant tracks per keyword, with speaker shift, tempo, loudness and room noise."""
    t = np.linspace(0, 1, cfg.frames)[None, :, None]
    mel = np.arange(cfg.mels)[None, None, :]
    start = np.array([3, 4, 11, 10, 5, 12])[keyword]
    slope = np.array([6, 0, -5, 3, 8, -8])[keyword]
    shift = rng.normal(0, 1.0, (n, 1, 1))
    tempo = rng.uniform(0.7, 1.3, (n, 1, 1))
    f1 = start + slope * t * tempo + shift
    f2 = np.clip(start + 5 - slope * 0.5 * t * tempo, 0, cfg.mels) + shift
    env = np.exp(-((t - rng.uniform(0.4, 0.6, (n, 1, 1))) / 0.35) ** 2)
    spec = env * (np.exp(-((mel - f1) / 1.2) ** 2) + 0.7 * np.exp(-((mel - f2) / 1.2) ** 2))
    spec = spec * rng.uniform(0.7, 1.5, (n, 1, 1)) + rng.normal(0, 0.28, spec.shape)
    return spec[..., None].astype("float32")


def make_set(per_class, cfg, rng):
    x = np.concatenate([render(k, per_class, cfg, rng) for k in range(len(KEYWORDS))])
    y = np.repeat(np.arange(len(KEYWORDS)), per_class).astype("int32")
    return x, y


def build(cfg):
    return keras.Sequential([
        keras.Input((cfg.frames, cfg.mels, 1)),
        layers.Conv2D(16, 3, padding="same", use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.ReLU(),
        layers.MaxPooling2D(2),
        layers.Conv2D(32, 3, padding="same", use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.ReLU(),
        layers.MaxPooling2D(2),
        layers.Flatten(),
        layers.Dropout(0.4),
        layers.Dense(48, activation="relu"),
        layers.Dropout(0.4),
        layers.Dense(len(KEYWORDS)),
    ])


class Trainer:
    def __init__(self, model, cfg):
        self.model = model
        self.cfg = cfg
        self.opt = keras.optimizers.AdamW(cfg.lr, weight_decay=1e-4)
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.loss = keras.metrics.Mean()
        self.acc = keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def train_step(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.model(x, training=True)
            loss = self.loss_fn(y, logits)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        self.loss.update_state(loss)
        self.acc.update_state(y, logits)

    @tf.function
    def val_step(self, x, y):
        logits = self.model(x, training=False)
        self.loss.update_state(self.loss_fn(y, logits), sample_weight=tf.shape(x)[0])
        self.acc.update_state(y, logits)

    def run(self, step, data):
        self.loss.reset_state()
        self.acc.reset_state()
        for x, y in data:
            step(x, y)
        return float(self.loss.result()), float(self.acc.result())


def main():
    cfg = Config()
    keras.utils.set_random_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    x_train, y_train = make_set(cfg.per_class_train, cfg, rng)
    x_val, y_val = make_set(cfg.per_class_val, cfg, rng)
    train = tf.data.Dataset.from_tensor_slices((x_train, y_train)) \
        .shuffle(len(x_train), seed=cfg.seed).batch(cfg.batch, drop_remainder=True).prefetch(2)
    val = tf.data.Dataset.from_tensor_slices((x_val, y_val)).batch(cfg.val_batch)

    trainer = Trainer(build(cfg), cfg)
    for epoch in range(1, cfg.epochs + 1):
        tr_loss, tr_acc = trainer.run(trainer.train_step, train)
        va_loss, va_acc = trainer.run(trainer.val_step, val)
        print(f"[{epoch:02d}] train {tr_loss:.3f}/{tr_acc:.3f}   val {va_loss:.3f}/{va_acc:.3f}")
    print(f"final held-out accuracy {va_acc:.4f}  (chance {1 / len(KEYWORDS):.4f})")


if __name__ == "__main__":
    main()
