import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import itertools
import numpy as np
import keras
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

SHIFTS = [(0, 0), (0, 1), (0, -1), (1, 0)]
GRID = {"width": [12, 24], "lr": [4e-3]}
SEEDS = [0, 1]


def load():
    digits = load_digits()
    images = (digits.images / 16.0).astype("float32")[..., None]
    return train_test_split(images, digits.target, test_size=0.25, stratify=digits.target, random_state=0)


def shifted(images, dy, dx):
    return np.roll(images, (dy, dx), axis=(1, 2))


def enlarge(x, y):
    images = np.concatenate([shifted(x, dy, dx) for dy, dx in SHIFTS])
    labels = np.repeat(y, len(SHIFTS))
    return images, labels


def build(width):
    return keras.Sequential([
        keras.layers.Input((8, 8, 1)),
        keras.layers.Conv2D(width, 3, padding="same", activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Conv2D(2 * width, 3, padding="same", activation="relu"),
        keras.layers.GlobalMaxPooling2D(),
        keras.layers.Dense(10, activation="softmax"),
    ])


def run_one(width, lr, seed, data):
    x_train, x_test, y_train, y_test = data
    keras.utils.set_random_seed(seed)
    images, labels = enlarge(x_train, y_train)
    model = build(width)
    model.compile(optimizer=keras.optimizers.Adam(lr), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    history = model.fit(images, labels, epochs=4, batch_size=64, verbose=0)
    loss, accuracy = model.evaluate(x_test, y_test, verbose=0)
    return history.history["loss"][-1], loss, accuracy


def main():
    data = load()
    table = {}
    for width, lr in itertools.product(*GRID.values()):
        runs = [run_one(width, lr, seed, data) for seed in SEEDS]
        table[width, lr] = np.mean(runs, axis=0)
        print("width %d lr %.0e train loss %.3f test loss %.3f test accuracy %.3f" % (width, lr, *table[width, lr]))
    best = max(table, key=lambda k: table[k][2])
    print("best setting", best, "accuracy %.3f" % table[best][2])


if __name__ == "__main__":
    main()
