"""Multinomial logistic regression on the digits, full batches."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import argparse

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("--rate", type=float, default=5.0)
    p.add_argument("--rounds", type=int, default=150)
    p.add_argument("--seed", type=int, default=2)
    return p.parse_args()


class Progress(keras.callbacks.Callback):
    def __init__(self, every):
        super().__init__()
        self.every = every

    def on_epoch_end(self, epoch, logs=None):
        if epoch % self.every == 0:
            print(f"round {epoch}: loss {logs['loss']:.4f} accuracy {logs['accuracy']:.4f}")


def load(seed):
    x, y = load_digits(return_X_y=True)
    x = (x / 16.0).astype("float32")
    x -= x.mean(axis=1, keepdims=True)
    return train_test_split(x, y, test_size=0.3, stratify=y, random_state=seed)


def main():
    args = arguments()
    keras.utils.set_random_seed(args.seed)
    x_tr, x_te, y_tr, y_te = load(args.seed)

    model = keras.Sequential(
        [
            keras.Input((x_tr.shape[1],)),
            layers.Dense(10, kernel_initializer="zeros", use_bias=True),
        ]
    )
    model.compile(
        optimizer=keras.optimizers.SGD(args.rate),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(
        x_tr,
        y_tr,
        batch_size=len(x_tr),
        epochs=args.rounds,
        callbacks=[Progress(25)],
        verbose=0,
    )
    loss, acc = model.evaluate(x_te, y_te, verbose=0)
    top = np.bincount(y_te).max() / len(y_te)
    print(f"test loss {loss:.4f} test accuracy {acc:.4f} (majority {top:.3f})")


if __name__ == "__main__":
    main()
