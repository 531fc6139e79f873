"""Digit reader for meter photos: small convnet, light augmentation in the model.

The phone app sends crops with very different exposure, so brightness and
translation are jittered while training.
"""
import argparse
import os

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=25)
parser.add_argument("--batch-size", type=int, default=64)
parser.add_argument("--lr", type=float, default=2e-3)
parser.add_argument("--seed", type=int, default=11)
args = parser.parse_args()

keras.utils.set_random_seed(args.seed)
os.makedirs("out", exist_ok=True)

NUM_CLASSES = 10


def load():
    raw = load_digits()
    x = raw.images.astype("float32") / 16.0
    # photos never use the full dynamic range
    rng = np.random.default_rng(args.seed)
    gain = rng.uniform(0.5, 0.8, size=(len(x), 1, 1)).astype("float32")
    lift = rng.uniform(0.0, 0.2, size=(len(x), 1, 1)).astype("float32")
    x = (x * gain + lift)[..., None]
    y = raw.target.astype("int32")
    x_tr, x_te, y_tr, y_te = train_test_split(
        x, y, test_size=0.3, stratify=y, random_state=args.seed
    )
    x_tr, x_va, y_tr, y_va = train_test_split(
        x_tr, y_tr, test_size=0.15, stratify=y_tr, random_state=args.seed
    )
    return (x_tr, y_tr), (x_va, y_va), (x_te, y_te)


def augmenter():
    return keras.Sequential(
        [
            layers.RandomTranslation(0.1, 0.1, fill_mode="nearest"),
            layers.RandomBrightness(0.2, value_range=(0.0, 1.0)),
        ],
        name="augment",
    )


def build_model():
    inp = keras.Input((8, 8, 1))
    h = augmenter()(inp)
    for width in (16, 32):
        h = layers.Conv2D(width, 3, padding="same", use_bias=False)(h)
        h = layers.GroupNormalization(groups=4)(h)
        h = layers.Activation("relu")(h)
        h = layers.MaxPooling2D()(h)
    h = layers.Flatten()(h)
    h = layers.Dense(64, activation="relu")(h)
    h = layers.Dropout(0.2)(h)
    out = layers.Dense(NUM_CLASSES)(h)
    return keras.Model(inp, out, name="meter_reader")


def main():
    train, val, test = load()
    print("train/val/test:", len(train[0]), len(val[0]), len(test[0]))
    model = build_model()
    model.compile(
        optimizer=keras.optimizers.Adam(args.lr),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    stopper = keras.callbacks.EarlyStopping(
        monitor="val_accuracy", mode="max", patience=8, restore_best_weights=True
    )
    history = model.fit(
        *train,
        validation_data=val,
        epochs=args.epochs,
        batch_size=args.batch_size,
        callbacks=[stopper, keras.callbacks.CSVLogger("out/meter_log.csv")],
        verbose=0,
    )
    for i in range(0, len(history.history["loss"]), 4):
        print(
            f"epoch {i + 1:2d} loss {history.history['loss'][i]:.3f} "
            f"acc {history.history['accuracy'][i]:.3f} "
            f"val_loss {history.history['val_loss'][i]:.3f} "
            f"val_acc {history.history['val_accuracy'][i]:.3f}"
        )
    loss, acc = model.evaluate(*test, verbose=0)
    majority = np.bincount(test[1]).max() / len(test[1])
    print(f"test loss {loss:.3f}  test accuracy {acc:.3f}  (majority {majority:.3f})")
    model.save("out/meter_reader.keras")


if __name__ == "__main__":
    main()
