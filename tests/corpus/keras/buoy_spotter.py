"""Classify harbour thumbnails stored as planar rows (R plane, G plane, B plane), as in old camera dumps."""
import keras
import numpy as np
from keras import layers

SIDE = 24
KINDS = ["red can", "green can", "red cone", "green cone", "yellow ball", "red ball"]
COLOUR = {"red": (0.8, 0.2, 0.2), "green": (0.2, 0.7, 0.3), "yellow": (0.8, 0.7, 0.2)}


def paint(rng, kind):
    colour, shape = KINDS[kind].split()
    img = rng.uniform(0.2, 0.7) + 0.15 * rng.standard_normal((3, SIDE, SIDE))
    img += np.linspace(0, rng.uniform(-0.3, 0.3), SIDE)[None, :, None]
    cy, cx = rng.integers(6, SIDE - 6, 2)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    dy, dx = yy - cy, xx - cx
    if shape == "can":
        mask = (abs(dy) <= 4) & (abs(dx) <= 3)
    elif shape == "cone":
        mask = (abs(dy) <= 4) & (abs(dx) <= (dy + 5) / 2)
    else:
        mask = dy**2 + dx**2 <= 18
    tint = np.array(COLOUR[colour]) + rng.uniform(-0.12, 0.12, 3)
    for c in range(3):
        img[c][mask] = tint[c] + 0.08 * rng.standard_normal(mask.sum())
    return np.clip(img, 0, 1)


def write_dump(n, seed):
    """Return what the camera dump would hold: one uint8 row of 3*SIDE*SIDE values per picture."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, len(KINDS), n)
    rows = np.stack([paint(rng, k).reshape(-1) for k in labels])
    return (rows * 255).astype("uint8"), labels


def load(n, seed):
    rows, labels = write_dump(n, seed)
    images = rows.reshape(n, SIDE, SIDE, 3)
    return images.astype("float32") / 255.0, labels


def conv_block(x, width):
    x = layers.Conv2D(width, 3, padding="same", activation="relu")(x)
    x = layers.Conv2D(width, 3, padding="same", activation="relu")(x)
    return layers.MaxPooling2D()(x)


def build():
    inp = keras.Input((SIDE, SIDE, 3))
    x = layers.Rescaling(2.0, offset=-1.0)(inp)
    for width in (16, 32, 48):
        x = conv_block(x, width)
    x = layers.GlobalMaxPooling2D()(x)
    x = layers.Dropout(0.2)(x)
    return keras.Model(inp, layers.Dense(len(KINDS), activation="softmax")(x))


if __name__ == "__main__":
    keras.utils.set_random_seed(8)
    x_train, y_train = load(1300, 1)
    x_val, y_val = load(600, 2)
    net = build()
    net.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    net.optimizer.learning_rate = 2e-3
    net.fit(x_train, y_train, validation_data=(x_val, y_val), epochs=8, batch_size=48, verbose=2)
    pred = net.predict(x_val, verbose=0).argmax(1)
    table = np.zeros((len(KINDS), len(KINDS)), int)
    np.add.at(table, (y_val, pred), 1)
    print(table)
    print("accuracy", (pred == y_val).mean())
