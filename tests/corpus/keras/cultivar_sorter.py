"""Classify wine cultivars from their chemical analysis (tf.data + Keras)."""
import argparse

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=60)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--lr", type=float, default=0.02)
    p.add_argument("--hidden", type=int, default=32)
    p.add_argument("--seed", type=int, default=7)
    return p.parse_args()


def load_tables(seed):
    bunch = load_wine()
    x = bunch.data.astype("float32")
    y = bunch.target.astype("int32")
    return train_test_split(x, y, test_size=0.3, stratify=y, random_state=seed)


def column_scaler(x_train):
    mean = tf.constant(x_train.mean(axis=0))
    std = tf.constant(x_train.std(axis=0) + 1e-6)

    def scale(x, y):
        return (x - mean) / std, y

    return scale


def make_dataset(x, y, scale, batch_size, training, seed):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if training:
        ds = ds.shuffle(len(x), seed=seed)
    ds.map(scale, num_parallel_calls=1)
    return ds.batch(batch_size).prefetch(1)


def build_classifier(n_features, n_classes, hidden):
    inputs = keras.Input(shape=(n_features,))
    h = keras.layers.Dense(hidden, activation="relu")(inputs)
    h = keras.layers.Dense(hidden, activation="relu")(h)
    outputs = keras.layers.Dense(n_classes, activation="softmax")(h)
    return keras.Model(inputs, outputs, name="cultivars")


def main():
    args = parse_args()
    keras.utils.set_random_seed(args.seed)
    x_train, x_test, y_train, y_test = load_tables(args.seed)
    scale = column_scaler(x_train)

    train_ds = make_dataset(x_train, y_train, scale, args.batch_size, True, args.seed)
    test_ds = make_dataset(x_test, y_test, scale, args.batch_size, False, args.seed)

    model = build_classifier(x_train.shape[1], 3, args.hidden)
    model.compile(
        optimizer=keras.optimizers.SGD(args.lr, momentum=0.9),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    history = model.fit(train_ds, epochs=args.epochs, verbose=0)
    for epoch in range(0, args.epochs, 10):
        print(f"epoch {epoch:3d}  loss {history.history['loss'][epoch]:.4f}")

    loss, acc = model.evaluate(test_ds, verbose=0)
    majority = np.bincount(y_test).max() / len(y_test)
    print(f"test loss {loss:.4f}  test accuracy {acc:.3f}  (majority class {majority:.3f})")


if __name__ == "__main__":
    main()
