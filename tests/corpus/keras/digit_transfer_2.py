"""Learn stroke features on digits 0-4, then adapt to 5-9 from a handful of labelled scans."""
import numpy as np
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(31)


def load():
    d = load_digits()
    x = (d.images[..., None] / 16.0).astype("float32")
    y = d.target
    low, high = y < 5, y >= 5
    return (x[low], y[low]), (x[high], y[high] - 5)


def backbone():
    return keras.Sequential([
        keras.Input((8, 8, 1)),
        layers.Conv2D(24, 3, padding="same", activation="relu"),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(48, 3, padding="same", activation="relu"),
        layers.Flatten(),
    ], name="backbone")


def pretrain(features, x, y):
    model = keras.Sequential([features, layers.Dropout(0.3), layers.Dense(5, activation="softmax", name="source_head")])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    h = model.fit(x, y, validation_split=0.15, epochs=8, batch_size=32, verbose=0)
    print(f"source task: train {h.history['accuracy'][-1]:.3f} val {h.history['val_accuracy'][-1]:.3f}")


def adapt(features, x, y, x_va, y_va, lr=5e-3, epochs=25):
    model = keras.Sequential([
        features,
        layers.Dropout(0.2),
        layers.Dense(5, activation="softmax", name="target_head"),
    ], name="digits_5_to_9")
    for layer in model.layers:
        layer.trainable = False
    model.compile(
        optimizer=keras.optimizers.Adam(lr),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    history = model.fit(x, y, validation_data=(x_va, y_va), epochs=epochs, batch_size=16, verbose=0)
    for e in range(0, epochs, 6):
        print(f"  epoch {e + 1:2d} loss {history.history['loss'][e]:.3f} "
              f"acc {history.history['accuracy'][e]:.3f} val_acc {history.history['val_accuracy'][e]:.3f}")
    return model


def main():
    (x0, y0), (x1, y1) = load()
    features = backbone()
    pretrain(features, x0, y0)

    x_pool, x_te, y_pool, y_te = train_test_split(x1, y1, test_size=0.5, stratify=y1, random_state=31)
    x_few, x_va, y_few, y_va = train_test_split(x_pool, y_pool, train_size=150, stratify=y_pool, random_state=31)
    print("target shots:", len(x_few), "val:", len(x_va), "test:", len(x_te))

    model = adapt(features, x_few, y_few, x_va[:150], y_va[:150])
    loss, acc = model.evaluate(x_te, y_te, verbose=0)
    per_class = []
    pred = model.predict(x_te, verbose=0).argmax(1)
    for k in range(5):
        per_class.append(f"{k + 5}:{(pred[y_te == k] == k).mean():.2f}")
    print(f"test loss {loss:.3f}  test accuracy {acc:.3f}  (chance 0.200)")
    print("recall", " ".join(per_class))


if __name__ == "__main__":
    main()
