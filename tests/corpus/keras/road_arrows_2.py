"""Recognise painted road arrows in small grey patches."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

CLASSES = ["left", "right", "straight", "cross"]
SIZE = 24
SEED = 19


def draw(rng, kind):
    img = np.zeros((SIZE, SIZE), dtype="float32")
    cy, cx = rng.integers(9, 15, 2)
    arm = rng.integers(5, 8)
    if kind in ("left", "right"):
        img[cy - 1:cy + 1, cx - arm:cx + arm] = 1
        for k in range(1, 5):
            col = cx - arm + k if kind == "left" else cx + arm - 1 - k
            img[cy - k, col] = img[cy + k - 1, col] = 1
    elif kind == "straight":
        img[cy - arm:cy + arm, cx - 1:cx + 1] = 1
        for k in range(1, 5):
            row = cy - arm + k
            img[row, cx - k] = img[row, cx + k - 1] = 1
    else:
        for k in range(-arm, arm):
            img[cy + k, cx + k] = img[cy + k, cx - k - 1] = 1
    worn = rng.random((SIZE, SIZE)) < 0.1
    img[worn] *= 0.3
    return img * rng.uniform(0.6, 1.0) + rng.normal(0, 0.15, img.shape)


def make_set(rng, n):
    y = rng.integers(0, len(CLASSES), n)
    x = np.stack([draw(rng, CLASSES[c]) for c in y]).astype("float32")
    return x[..., None], y


def augmenter():
    return keras.Sequential([
        layers.RandomFlip("horizontal", seed=SEED),
        layers.RandomTranslation(0.08, 0.08, fill_mode="constant", seed=SEED),
        layers.RandomRotation(0.02, fill_mode="constant", seed=SEED),
    ], name="augment")


def classifier():
    inp = keras.Input((SIZE, SIZE, 1))
    x = augmenter()(inp)
    for f in (16, 32, 32):
        x = layers.Conv2D(f, 3, padding="same", activation="relu")(x)
        x = layers.MaxPooling2D()(x)
    x = layers.Flatten()(x)
    x = layers.Dropout(0.2)(x)
    x = layers.Dense(48, activation="relu")(x)
    return keras.Model(inp, layers.Dense(len(CLASSES), activation="softmax")(x))


if __name__ == "__main__":
    keras.utils.set_random_seed(SEED)
    rng = np.random.default_rng(SEED)
    x_train, y_train = make_set(rng, 1500)
    x_val, y_val = make_set(rng, 300)
    x_test, y_test = make_set(rng, 600)

    model = classifier()
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x_train, y_train, batch_size=50, epochs=12,
              validation_data=(x_val, y_val), verbose=2)

    pred = model.predict(x_test, verbose=0).argmax(1)
    print("confusion (rows: truth)")
    print(tf.math.confusion_matrix(y_test, pred, num_classes=4).numpy())
    majority = np.bincount(y_test).max() / len(y_test)
    print(f"test accuracy {np.mean(pred == y_test):.4f} (majority {majority:.4f})")
