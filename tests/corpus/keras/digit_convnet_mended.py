"""Small convnet on the 8x8 digit scans (homework 3)."""
import argparse

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import train_test_split


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=12)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--filters", type=int, default=24)
    p.add_argument("--seed", type=int, default=3)
    return p.parse_args()


def load(seed):
    bunch = load_digits()
    images = (bunch.images / 16.0).astype("float32")[..., None]
    labels = bunch.target.astype("int64")
    x_rest, x_test, y_rest, y_test = train_test_split(
        images, labels, test_size=0.25, stratify=labels, random_state=seed)
    x_train, x_val, y_train, y_val = train_test_split(
        x_rest, y_rest, test_size=0.15, stratify=y_rest, random_state=seed)
    return (x_train, y_train), (x_val, y_val), (x_test, y_test)


def build(filters):
    inputs = keras.Input((8, 8, 1))
    x = layers.Conv2D(filters, 3, padding="same", activation="relu")(inputs)
    x = layers.MaxPooling2D()(x)
    x = layers.Conv2D(2 * filters, 3, padding="same", activation="relu")(x)
    x = layers.MaxPooling2D()(x)
    x = layers.Flatten()(x)
    x = layers.Dense(96, activation="relu")(x)
    x = layers.Dense(48, activation="relu")(x)
    outputs = layers.Dense(10)(x)
    return keras.Model(inputs, outputs, name="digit_convnet")


class ShortLog(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch % 3 == 0 or epoch == self.params["epochs"] - 1:
            print(f"epoch {epoch:2d}  loss {logs['loss']:.4f}  acc {logs['accuracy']:.3f}"
                  f"  val_acc {logs['val_accuracy']:.3f}")


def main():
    args = parse()
    keras.utils.set_random_seed(args.seed)
    train, val, test = load(args.seed)

    model = build(args.filters)
    model.compile(
        optimizer=keras.optimizers.Adam(learning_rate=args.lr),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(*train, validation_data=val, epochs=args.epochs,
              batch_size=args.batch_size, verbose=0, callbacks=[ShortLog()])

    guess = DummyClassifier(strategy="most_frequent").fit(*train).score(*test)
    pred = np.argmax(model.predict(test[0], verbose=0), axis=1)
    print(f"majority baseline {guess:.3f}")
    print(f"test accuracy     {np.mean(pred == test[1]):.3f}")


if __name__ == "__main__":
    main()
