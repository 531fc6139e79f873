"""Pretrains a small encoder on pressed-leaf outlines, then adapts it to vein patterns in two stages."""
import argparse

import keras
import numpy as np
from keras import layers

SIZE = 20


def outlines(n, rng):
    yy, xx = np.mgrid[:SIZE, :SIZE] - (SIZE - 1) / 2
    y = rng.integers(0, 3, n)
    x = np.empty((n, SIZE, SIZE, 1), "float32")
    for i, k in enumerate(y):
        a, b = [(8, 8), (9, 4), (4, 9)][k]
        leaf = (xx / (a + rng.uniform(-1, 1))) ** 2 + (yy / (b + rng.uniform(-1, 1))) ** 2 < 1
        x[i, ..., 0] = leaf + 0.2 * rng.normal(size=leaf.shape)
    return x, y


def veins(n, rng):
    yy, xx = np.mgrid[:SIZE, :SIZE] - (SIZE - 1) / 2
    y = rng.integers(0, 4, n)
    x = np.empty((n, SIZE, SIZE, 1), "float32")
    for i, k in enumerate(y):
        angle = k * np.pi / 4 + rng.uniform(-0.2, 0.2)
        phase = rng.uniform(0, 2 * np.pi)
        wave = np.sin(1.6 * (xx * np.cos(angle) + yy * np.sin(angle)) + phase)
        leaf = xx ** 2 + yy ** 2 < 81
        x[i, ..., 0] = leaf * (0.5 + 0.4 * wave) + 0.2 * rng.normal(size=leaf.shape)
    return x, y


def make_encoder():
    return keras.Sequential(
        [
            keras.Input((SIZE, SIZE, 1)),
            layers.Conv2D(12, 3, strides=2, activation="relu"),
            layers.Conv2D(16, 3, strides=2, activation="relu"),
            layers.Flatten(),
            layers.Dense(8, activation="tanh"),
        ],
        name="encoder",
    )


def pretrain(encoder, rng):
    model = keras.Sequential([encoder, layers.Dense(3, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(*outlines(1200, rng), epochs=4, batch_size=32, verbose=2)


def adapt(encoder, train, valid, args):
    encoder.trainable = False
    model = keras.Sequential([encoder, layers.Dense(4, activation="softmax")])
    loss = "sparse_categorical_crossentropy"
    model.compile(keras.optimizers.Adam(args.head_lr), loss, metrics=["accuracy"])
    model.fit(*train, epochs=args.head_epochs, batch_size=32, validation_data=valid, verbose=2)

    print("fine-tuning the whole network")
    encoder.trainable = True
    model.optimizer.learning_rate = args.full_lr
    model.fit(*train, epochs=args.full_epochs, batch_size=32, validation_data=valid, verbose=2)
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--head-epochs", type=int, default=4)
    parser.add_argument("--full-epochs", type=int, default=12)
    parser.add_argument("--head-lr", type=float, default=5e-3)
    parser.add_argument("--full-lr", type=float, default=2e-3)
    args = parser.parse_args()

    keras.utils.set_random_seed(8)
    rng = np.random.default_rng(8)
    encoder = make_encoder()
    pretrain(encoder, rng)
    model = adapt(encoder, veins(1200, rng), veins(300, rng), args)
    loss, acc = model.evaluate(*veins(500, rng), verbose=0)
    print(f"veins: test loss {loss:.3f}, accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
