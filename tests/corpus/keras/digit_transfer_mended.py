"""Two-stage transfer: a backbone learned on an easy pair of digits is reused for all ten."""
import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(8)


def load():
    d = load_digits()
    x = (d.images / 16.0).astype("float32")[..., None]
    return train_test_split(x, d.target, test_size=0.25, random_state=8, stratify=d.target)


def make_backbone():
    return keras.Sequential([
        keras.Input((8, 8, 1)),
        layers.Conv2D(16, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(24, activation="relu"),
    ], name="backbone")


def pretrain(backbone, x, y):
    keep = np.isin(y, (0, 1))
    model = keras.Sequential([keras.Input((8, 8, 1)), backbone, layers.Dense(2)])
    model.compile(
        optimizer=keras.optimizers.Adam(3e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    hist = model.fit(x[keep], y[keep], epochs=10, batch_size=32, verbose=0)
    print("source task accuracy", round(hist.history["accuracy"][-1], 3))


def compile_model(model, lr):
    model.compile(
        optimizer=keras.optimizers.Adam(lr),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )


def main():
    x_train, x_test, y_train, y_test = load()
    backbone = make_backbone()
    pretrain(backbone, x_train, y_train)

    inputs = keras.Input((8, 8, 1))
    features = backbone(inputs)
    outputs = layers.Dense(10, name="head")(features)
    model = keras.Model(inputs, outputs)

    # stage 1: only the new head
    backbone.trainable = False
    compile_model(model, 5e-3)
    model.fit(x_train, y_train, epochs=8, batch_size=32, verbose=2,
              validation_data=(x_test, y_test))

    # stage 2: fine-tune everything
    backbone.trainable = True
    compile_model(model, 4e-3)
    model.fit(x_train, y_train, epochs=25, batch_size=32, verbose=2,
              validation_data=(x_test, y_test))

    loss, acc = model.evaluate(x_test, y_test, verbose=0)
    base = np.bincount(y_test).max() / len(y_test)
    print(f"test accuracy {acc:.3f} loss {loss:.3f} (majority {base:.3f})")


if __name__ == "__main__":
    main()
