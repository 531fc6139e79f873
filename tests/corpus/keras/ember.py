from __future__ import annotations

import numpy as np
import tensorflow as tf
import keras
from keras import layers

CONFIG = {
    "n_train": 3200,
    "n_val": 800,
    "length": 96,
    "batch_size": 32,
    "epochs": 12,
    "lr": 2e-3,
    "decay_every": 2,
    "decay_rate": 0.8,
    "seed": 7,
}
KINDS = ["sine", "square", "saw", "chirp", "pulse"]


def wave(kind: str, length: int, rng: np.random.Generator) -> np.ndarray:
    t = np.linspace(0, 1, length)
    f, phase = rng.uniform(3, 7), rng.uniform(0, 1)
    arg = (f * t + phase) % 1.0
    if kind == "sine":
        s = np.sin(2 * np.pi * arg)
    elif kind == "square":
        s = np.where(arg < 0.5, 1.0, -1.0)
    elif kind == "saw":
        s = 2 * arg - 1
    elif kind == "chirp":
        s = np.sin(2 * np.pi * (f * t * (1 + 1.5 * t) + phase))
    else:
        s = np.where(arg < 0.12, 1.0, -0.3)
    return s * rng.uniform(0.6, 1.4) + rng.normal(0, 0.25, length)


def stream(n: int, cfg: dict, seed: int):
    def gen():
        rng = np.random.default_rng(seed)
        for _ in range(n):
            k = int(rng.integers(len(KINDS)))
            yield wave(KINDS[k], cfg["length"], rng)[:, None].astype("float32"), k

    sig = (tf.TensorSpec((cfg["length"], 1), tf.float32), tf.TensorSpec((), tf.int32))
    return tf.data.Dataset.from_generator(gen, output_signature=sig).cache()


def build_model(cfg: dict) -> keras.Model:
    x = inp = keras.Input((cfg["length"], 1))
    for filters in (16, 32, 32):
        x = layers.Conv1D(filters, 5, padding="same", activation="relu")(x)
        x = layers.MaxPooling1D(2)(x)
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.Dense(32, activation="relu")(x)
    return keras.Model(inp, layers.Dense(len(KINDS))(x))


def build_optimizer(cfg: dict) -> keras.optimizers.Optimizer:
    schedule = keras.optimizers.schedules.ExponentialDecay(
        initial_learning_rate=cfg["lr"],
        decay_steps=cfg["decay_every"],
        decay_rate=cfg["decay_rate"],
        staircase=True,
    )
    return keras.optimizers.Adam(schedule)


def run(cfg: dict) -> float:
    keras.utils.set_random_seed(cfg["seed"])
    train = stream(cfg["n_train"], cfg, 1).shuffle(1000).batch(cfg["batch_size"]).prefetch(2)
    val = stream(cfg["n_val"], cfg, 2).batch(200)
    model = build_model(cfg)
    model.compile(
        optimizer=build_optimizer(cfg),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    hist = model.fit(train, validation_data=val, epochs=cfg["epochs"], verbose=2)
    return max(hist.history["val_accuracy"])


if __name__ == "__main__":
    best = run(CONFIG)
    print(f"best val accuracy over {CONFIG['epochs']} epochs: {best:.3f}")
