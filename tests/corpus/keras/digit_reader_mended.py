import argparse

import numpy as np
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def parse_args():
    parser = argparse.ArgumentParser(description="small CNN for 8x8 digits")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--seed", type=int, default=3)
    return parser.parse_args()


def load_images(seed):
    digits = load_digits()
    images = digits.images.astype("float32")[..., None] / 16.0
    labels = digits.target.astype("int32")
    return train_test_split(images, labels, test_size=0.25, stratify=labels, random_state=seed)


def conv_block(x, filters, pool):
    x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    x = layers.Activation("relu")(x)
    if pool:
        x = layers.MaxPooling2D(2)(x)
    return x


def make_network(width, n_classes):
    inputs = keras.Input((8, 8, 1))
    x = conv_block(inputs, width, pool=False)
    x = conv_block(x, width * 2, pool=True)
    x = conv_block(x, width * 2, pool=True)
    x = layers.Flatten()(x)
    x = layers.Dropout(0.2)(x)
    outputs = layers.Dense(n_classes)(x)
    return keras.Model(inputs, outputs, name="digit_cnn")


def main():
    args = parse_args()
    keras.utils.set_random_seed(args.seed)
    x_train, x_test, y_train, y_test = load_images(args.seed)

    model = make_network(args.width, n_classes=10)
    model.compile(
        optimizer=keras.optimizers.Adam(args.lr),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    history = model.fit(
        x_train, y_train,
        validation_split=0.1,
        epochs=args.epochs,
        batch_size=args.batch_size,
        verbose=2,
    )

    scores = model.predict(x_test, verbose=0)
    predicted = scores.argmax(axis=1)
    accuracy = float(np.mean(predicted == y_test))
    majority = np.bincount(y_test).max() / len(y_test)
    print(f"final train loss {history.history['loss'][-1]:.4f}")
    print(f"test accuracy {accuracy:.4f} (largest class {majority:.4f})")
    for digit in range(10):
        mask = y_test == digit
        print(f"  digit {digit}: recall {np.mean(predicted[mask] == digit):.3f} of {mask.sum()}")


if __name__ == "__main__":
    main()
