from dataclasses import dataclass

import keras
import numpy as np
from keras import layers


@dataclass
class Settings:
    frames: int = 24
    bands: int = 16
    head_epochs: int = 5
    tune_epochs: int = 14
    batch_size: int = 32
    seed: int = 7


def tone(kind, n, cfg, rng):
    t = np.linspace(0, 1, cfg.frames)
    f = np.arange(cfg.bands)
    out = np.zeros((n, cfg.frames, cfg.bands))
    for i in range(n):
        start = rng.uniform(3, cfg.bands - 4)
        slope = {"up": 6, "down": -6, "flat": 0, "warble": 0}[kind] * rng.uniform(0.6, 1.2)
        centre = start + slope * (t - 0.5)
        if kind == "warble":
            centre = start + 2.0 * np.sin(2 * np.pi * rng.uniform(2, 4) * t)
        out[i] = np.exp(-((f[None] - centre[:, None]) ** 2) / 1.2)
    return out + rng.normal(0, 0.3, out.shape)


def source_task(n, cfg, rng):
    """Rising clips against steady ones; plenty of labels."""
    x = np.concatenate([tone("up", n, cfg, rng), tone("flat", n, cfg, rng)])
    y = np.repeat([1, 0], n)
    order = rng.permutation(len(x))
    return x[order].astype("float32")[..., None], y[order]


def target_task(n, cfg, rng):
    kinds = ("up", "down", "flat", "warble")
    x = np.concatenate([tone(k, n, cfg, rng) for k in kinds])
    y = np.repeat(np.arange(len(kinds)), n)
    order = rng.permutation(len(x))
    return x[order].astype("float32")[..., None], y[order]


def make_backbone(cfg):
    return keras.Sequential([
        keras.Input((cfg.frames, cfg.bands, 1)),
        layers.Conv2D(8, 5, activation="relu", padding="same"),
        layers.MaxPooling2D(2),
        layers.Conv2D(16, 3, activation="relu", padding="same"),
        layers.GlobalAveragePooling2D(),
    ], name="backbone")


def compile_model(model, lr):
    model.compile(
        optimizer=keras.optimizers.Adam(lr),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )


def run(cfg):
    keras.utils.set_random_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)

    backbone = make_backbone(cfg)
    xs, ys = source_task(300, cfg, rng)
    pre = keras.Sequential([backbone, layers.Dense(2, activation="softmax")])
    compile_model(pre, 2e-3)
    pre.fit(xs, ys, epochs=8, batch_size=cfg.batch_size, verbose=2)

    x_tr, y_tr = target_task(220, cfg, rng)
    x_te, y_te = target_task(100, cfg, rng)
    backbone.trainable = False
    model = keras.Sequential([backbone, layers.Dense(32, activation="relu"),
                              layers.Dense(4, activation="softmax")])
    compile_model(model, 4e-3)
    model.fit(x_tr, y_tr, epochs=cfg.head_epochs, batch_size=cfg.batch_size,
              validation_data=(x_te, y_te), verbose=2)
    head_acc = model.evaluate(x_te, y_te, verbose=0)[1]

    backbone.trainable = True
    compile_model(model, 4e-3)
    print("fine-tuning all layers")
    model.fit(x_tr, y_tr, epochs=cfg.tune_epochs, batch_size=cfg.batch_size,
              validation_data=(x_te, y_te), verbose=2)
    full_acc = model.evaluate(x_te, y_te, verbose=0)[1]
    print(f"accuracy head only {head_acc:.3f}, after fine-tuning {full_acc:.3f}")


if __name__ == "__main__":
    run(Settings())
