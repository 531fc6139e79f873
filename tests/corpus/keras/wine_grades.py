"""Predict the grade (1, 2 or 3) of a wine from its lab sheet."""
import argparse
import csv
import io

import numpy as np
import keras
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler


def lab_sheet():
    """The lab hands over a CSV whose last column is the grade, written 1, 2, 3."""
    data = load_wine()
    buf = io.StringIO()
    writer = csv.writer(buf)
    writer.writerow(list(data.feature_names) + ["grade"])
    for row, label in zip(data.data, data.target):
        writer.writerow([f"{v:.4f}" for v in row] + [int(label) + 1])
    buf.seek(0)
    return buf


def read(sheet):
    rows = list(csv.reader(sheet))[1:]
    table = np.array(rows, dtype="float32")
    features = table[:, :-1]
    grades = table[:, -1].astype("int32")
    return features, grades


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    keras.utils.set_random_seed(args.seed)

    x, y = read(lab_sheet())
    order = np.random.permutation(len(x))
    x, y = x[order], y[order]
    n_classes = len(np.unique(y))
    cut = int(0.75 * len(x))
    scaler = StandardScaler().fit(x[:cut])
    x = scaler.transform(x)

    model = keras.Sequential(
        [
            keras.Input((x.shape[1],)),
            keras.layers.Dense(24, activation="relu"),
            keras.layers.Dense(n_classes, activation="softmax"),
        ]
    )
    model.compile("adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x[:cut], y[:cut], epochs=args.epochs, batch_size=16, verbose=2)
    print("held-out loss, accuracy:", model.evaluate(x[cut:], y[cut:], verbose=0))


if __name__ == "__main__":
    main()
