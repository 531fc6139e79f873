"""Pretrain a small convolutional base on how far a digit is turned, then use it to read the digits."""
import argparse

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tensorflow import keras
from tensorflow.keras import layers


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pretrain-epochs", type=int, default=10)
    parser.add_argument("--head-epochs", type=int, default=5)
    parser.add_argument("--tune-epochs", type=int, default=12)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--tune-lr", type=float, default=1e-3)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--seed", type=int, default=13)
    return parser.parse_args()


def load(seed):
    images, digits = load_digits(return_X_y=True)
    images = (images / 16.0).astype("float32").reshape(-1, 8, 8, 1)
    x_train, x_test, y_train, y_test = train_test_split(
        images, digits, test_size=0.25, stratify=digits, random_state=seed)
    return (x_train, y_train), (x_test, y_test)


def turned(images, seed):
    """Every image once, turned by a random multiple of 90 degrees, which is the label."""
    turns = np.random.default_rng(seed).integers(0, 4, len(images))
    return np.stack([np.rot90(image, k) for image, k in zip(images, turns)]), turns


def make_base():
    return keras.Sequential([
        keras.Input((8, 8, 1)),
        layers.Conv2D(16, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(16, activation="relu"),
    ], name="base")


def pretrain(base, images, args):
    model = keras.Sequential([base, layers.Dense(4, activation="softmax")])
    model.compile(keras.optimizers.Adam(args.lr), "sparse_categorical_crossentropy", metrics=["accuracy"])
    x, y = turned(images, args.seed)
    model.fit(x, y, epochs=args.pretrain_epochs, batch_size=args.batch, validation_split=0.1, verbose=2)


def train_head(base, train, test, args):
    base.trainable = False
    inputs = keras.Input((8, 8, 1))
    x = base(inputs)
    outputs = layers.Dense(10, activation="softmax")(x)
    model = keras.Model(inputs, outputs)
    model.compile(keras.optimizers.Adam(args.lr), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(*train, validation_data=test, epochs=args.head_epochs, batch_size=args.batch, verbose=2)
    return model


def fine_tune(model, base, train, test, args):
    base.trainable = True
    model.optimizer.learning_rate = args.tune_lr
    return model.fit(*train, validation_data=test, epochs=args.tune_epochs, batch_size=args.batch, verbose=2)


def main():
    args = parse()
    keras.utils.set_random_seed(args.seed)
    train, test = load(args.seed)
    base = make_base()
    pretrain(base, train[0], args)
    model = train_head(base, train, test, args)
    print("head only:  %.3f" % model.evaluate(*test, verbose=0)[1])
    fine_tune(model, base, train, test, args)
    print("fine-tuned: %.3f" % model.evaluate(*test, verbose=0)[1])


if __name__ == "__main__":
    main()
