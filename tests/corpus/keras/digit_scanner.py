"""Read hand-written digits coming from the form scanner (8-bit grey crops)."""
import os
import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

SEED = 3
BATCH = 32
EPOCHS = 15
OUT = "out"
keras.utils.set_random_seed(SEED)
os.makedirs(OUT, exist_ok=True)


def scanner_crops():
    digits = load_digits()
    crops = (digits.images / 16.0 * 255.0).round().astype(np.uint8)
    crops = np.kron(crops, np.ones((1, 2, 2), dtype=np.uint8))   # 16x16, as delivered
    return crops[..., None], digits.target.astype(np.int32)


def to_float(image, label):
    image = tf.cast(image, tf.float32) / 255.0
    return image, label


def make_ds(x, y, training=False):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if training:
        ds = ds.shuffle(len(x), seed=SEED)
    return ds.map(to_float, num_parallel_calls=2).batch(BATCH).prefetch(1)


def build_model(n_classes=10):
    inputs = keras.Input((16, 16, 1), name="crop")
    x = layers.Rescaling(1.0 / 255)(inputs)
    for width in (16, 32):
        x = layers.Conv2D(width, 3, padding="same", activation="relu")(x)
        x = layers.MaxPooling2D()(x)
    x = layers.Flatten()(x)
    x = layers.Dense(64, activation="relu")(x)
    outputs = layers.Dense(n_classes)(x)
    return keras.Model(inputs, outputs, name="digit_scanner")


def main():
    x, y = scanner_crops()
    x_tr, x_te, y_tr, y_te = train_test_split(
        x, y, test_size=0.25, stratify=y, random_state=SEED)
    x_tr, x_va, y_tr, y_va = train_test_split(
        x_tr, y_tr, test_size=0.15, stratify=y_tr, random_state=SEED)
    print("train/val/test:", len(x_tr), len(x_va), len(x_te))

    model = build_model()
    model.compile(
        optimizer=keras.optimizers.SGD(0.03, momentum=0.9),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(
        make_ds(x_tr, y_tr, training=True),
        validation_data=make_ds(x_va, y_va),
        epochs=EPOCHS,
        callbacks=[keras.callbacks.CSVLogger(os.path.join(OUT, "digit_scanner.csv"))],
        verbose=2,
    )
    loss, acc = model.evaluate(make_ds(x_te, y_te), verbose=0)
    majority = np.bincount(y_te).max() / len(y_te)
    print(f"test loss {loss:.4f}  test accuracy {acc:.4f}  (majority class {majority:.4f})")


if __name__ == "__main__":
    main()
