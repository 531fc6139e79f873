import math

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tensorflow import keras
from tensorflow.keras import layers

CONFIG = {
    "epochs": 14,
    "batch_size": 64,
    "start_lr": 1e-5,
    "peak_lr": 4e-3,
    "warm_epochs": 3,
}


def plan(epoch, cfg):
    if epoch < cfg["warm_epochs"]:
        frac = epoch / cfg["warm_epochs"]
        return cfg["start_lr"] + frac * (cfg["peak_lr"] - cfg["start_lr"])
    frac = (epoch - cfg["warm_epochs"]) / (cfg["epochs"] - cfg["warm_epochs"])
    return 0.5 * cfg["peak_lr"] * (1 + math.cos(math.pi * frac))


class OneCycle(keras.callbacks.Callback):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.trace = []

    def on_epoch_begin(self, epoch, logs=None):
        value = plan(epoch, self.cfg)
        self.model.optimizer.lr = value
        self.trace.append(value)

    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch:2d}  planned {self.trace[-1]:.5f}  loss {logs['loss']:.3f}  "
              f"val acc {logs['val_accuracy']:.3f}")


def block(x, filters):
    x = layers.Conv2D(filters, 3, padding="same")(x)
    x = layers.LayerNormalization()(x)
    return layers.Activation("gelu")(x)


def build():
    inputs = keras.Input((8, 8, 1))
    x = block(inputs, 12)
    x = layers.MaxPooling2D()(x)
    x = block(x, 24)
    x = layers.GlobalAveragePooling2D()(x)
    outputs = layers.Dense(10)(x)
    return keras.Model(inputs, outputs)


def load():
    digits = load_digits()
    x = (digits.images / 16.0).astype("float32")[..., None]
    x_rest, x_test, y_rest, y_test = train_test_split(
        x, digits.target, test_size=0.2, stratify=digits.target, random_state=1
    )
    x_train, x_val, y_train, y_val = train_test_split(
        x_rest, y_rest, test_size=0.15, stratify=y_rest, random_state=1
    )
    return (x_train, y_train), (x_val, y_val), (x_test, y_test)


if __name__ == "__main__":
    keras.utils.set_random_seed(21)
    train, val, test = load()
    model = build()
    model.compile(
        optimizer=keras.optimizers.Adam(learning_rate=CONFIG["start_lr"]),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(
        *train,
        validation_data=val,
        epochs=CONFIG["epochs"],
        batch_size=CONFIG["batch_size"],
        callbacks=[OneCycle(CONFIG)],
        verbose=0,
    )
    loss, acc = model.evaluate(*test, verbose=0)
    print(f"test loss {loss:.3f}  test accuracy {acc:.3f}  chance {1 / 10:.3f}")
