import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
from dataclasses import dataclass

import numpy as np
import keras
from keras import layers

SIZE = 20
ANGLES = np.linspace(0, np.pi, 6, endpoint=False)


@dataclass
class Config:
    pretrain_epochs: int = 3
    head_epochs: int = 4
    finetune_epochs: int = 8
    head_lr: float = 2e-3
    finetune_lr: float = 1e-3
    batch_size: int = 32
    seed: int = 5


def gratings(n, rng):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    kind = rng.integers(0, len(ANGLES), n)
    bright = rng.integers(0, 2, n)
    images = np.empty((n, SIZE, SIZE, 1), "float32")
    for i in range(n):
        freq = rng.uniform(0.9, 1.3)
        phase = rng.uniform(0, 2 * np.pi)
        a = ANGLES[kind[i]] + rng.normal(0, 0.05)
        wave = np.sin(freq * (xx * np.cos(a) + yy * np.sin(a)) + phase)
        img = 0.5 * wave + (0.4 if bright[i] else -0.4)
        images[i, ..., 0] = img + rng.normal(0, 0.4, (SIZE, SIZE))
    return images, kind, bright


def build_backbone():
    return keras.Sequential([
        layers.Input((SIZE, SIZE, 1)),
        layers.Conv2D(16, 5, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(24, 3, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(12, activation="tanh"),
    ], name="backbone")


def pretrain(backbone, x, bright, cfg):
    model = keras.Sequential([backbone, layers.Dense(1, activation="sigmoid")])
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    model.fit(x, bright, epochs=cfg.pretrain_epochs, batch_size=cfg.batch_size, verbose=2)


def compile_for(model, lr):
    model.compile(optimizer=keras.optimizers.Adam(lr),
                  loss="sparse_categorical_crossentropy", metrics=["accuracy"])


def run(cfg):
    keras.utils.set_random_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    x_src, _, bright_src = gratings(800, rng)
    x_tr, y_tr, _ = gratings(1200, rng)
    x_te, y_te, _ = gratings(500, rng)

    backbone = build_backbone()
    pretrain(backbone, x_src, bright_src, cfg)

    backbone.trainable = False
    inputs = layers.Input((SIZE, SIZE, 1))
    feats = backbone(inputs)
    outputs = layers.Dense(len(ANGLES), activation="softmax")(feats)
    model = keras.Model(inputs, outputs)

    compile_for(model, cfg.head_lr)
    model.fit(x_tr, y_tr, epochs=cfg.head_epochs, batch_size=cfg.batch_size,
              validation_data=(x_te, y_te), verbose=2)

    print("fine-tuning the whole network")
    backbone.trainable = True
    compile_for(model, cfg.finetune_lr)
    model.fit(x_tr, y_tr, epochs=cfg.finetune_epochs, batch_size=cfg.batch_size,
              validation_data=(x_te, y_te), verbose=2)

    loss, acc = model.evaluate(x_te, y_te, verbose=0)
    print(f"test loss {loss:.4f}  test accuracy {acc:.4f}")


if __name__ == "__main__":
    run(Config())
