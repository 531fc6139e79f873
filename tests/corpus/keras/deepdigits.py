import argparse
from dataclasses import dataclass

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


@dataclass
class NetConfig:
    width: int = 128
    depth: int = 4
    classes: int = 10
    activation: str = "relu"
    weight_init: object = None
    lr: float = 0.01
    momentum: float = 0.9


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=20)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--seed", type=int, default=4)
    return p.parse_args()


def build(cfg):
    inp = keras.Input((8, 8, 1))
    h = layers.Flatten()(inp)
    for i in range(cfg.depth):
        h = layers.Dense(
            cfg.width,
            activation=cfg.activation,
            kernel_initializer=cfg.weight_init,
            name=f"block{i}",
        )(h)
    out = layers.Dense(cfg.classes, kernel_initializer=cfg.weight_init, name="scores")(h)
    return keras.Model(inp, out)


def main():
    args = parse()
    keras.utils.set_random_seed(args.seed)

    digits = load_digits()
    x = digits.images[..., None].astype("float32") / 16.0
    x = x - x.mean()
    x_tr, x_te, y_tr, y_te = train_test_split(
        x, digits.target, test_size=0.3, random_state=args.seed, stratify=digits.target
    )

    cfg = NetConfig(weight_init=keras.initializers.RandomNormal(mean=0.0, stddev=1.0, seed=args.seed))
    model = build(cfg)
    model.compile(
        optimizer=keras.optimizers.SGD(cfg.lr, momentum=cfg.momentum),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    first, _ = model.evaluate(x_tr, y_tr, verbose=0)
    stop = keras.callbacks.EarlyStopping("val_loss", patience=6, restore_best_weights=True)
    hist = model.fit(
        x_tr, y_tr,
        validation_split=0.15,
        epochs=args.epochs,
        batch_size=args.batch_size,
        callbacks=[stop],
        verbose=0,
    )
    loss, acc = model.evaluate(x_te, y_te, verbose=0)
    print(f"loss before training {first:.3f}, epochs run {len(hist.history['loss'])}")
    print(f"train loss {hist.history['loss'][-1]:.4f}  test loss {loss:.4f}  test accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
