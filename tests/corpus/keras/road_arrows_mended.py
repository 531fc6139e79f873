import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import keras
from keras import layers

SIZE = 32
NAMES = ["turn_left", "turn_right", "straight", "keep_left", "keep_right", "u_turn"]


def line(img, p, q, width, value):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    p, q = np.array(p, float), np.array(q, float)
    d = q - p
    s = np.clip(((xx - p[0]) * d[0] + (yy - p[1]) * d[1]) / (d @ d + 1e-9), 0, 1)
    dist = np.hypot(xx - p[0] - s * d[0], yy - p[1] - s * d[1])
    img[dist < width] = value


def arrow(img, p, q, width, value):
    line(img, p, q, width, value)
    ang = np.arctan2(q[1] - p[1], q[0] - p[0])
    for off in (2.5, -2.5):
        tip = (q[0] + 6 * np.cos(ang + off), q[1] + 6 * np.sin(ang + off))
        line(img, q, tip, width, value)


def draw(label, rng):
    img = np.full((SIZE, SIZE), rng.uniform(0.1, 0.4))
    ink, w = rng.uniform(0.7, 1.0), rng.uniform(0.9, 1.6)
    j = lambda a, b: (a + rng.normal(0, 1.2), b + rng.normal(0, 1.2))
    if label in (0, 1):
        side = 7 if label == 0 else 25
        corner = j(16, 12)
        line(img, j(16, 27), corner, w, ink)
        arrow(img, corner, j(side, 12), w, ink)
    elif label == 2:
        arrow(img, j(16, 27), j(16, 6), w, ink)
    elif label in (3, 4):
        side = 8 if label == 3 else 24
        arrow(img, j(16, 7), j(side, 24), w, ink)
    else:
        line(img, j(21, 27), j(21, 9), w, ink)
        line(img, (21, 9), (11, 9), w, ink)
        arrow(img, (11, 9), j(11, 22), w, ink)
    return img + rng.normal(0, 0.12, (SIZE, SIZE))


def make(n, rng):
    y = rng.integers(0, len(NAMES), n)
    return np.stack([draw(k, rng) for k in y])[..., None].astype("float32"), y


def build():
    augment = keras.Sequential([
        layers.RandomTranslation(0.08, 0.08, fill_mode="nearest"),
    ], name="augment")
    return keras.Sequential([
        keras.Input((SIZE, SIZE, 1)),
        augment,
        layers.Conv2D(12, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(24, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dense(len(NAMES), activation="softmax"),
    ])


if __name__ == "__main__":
    keras.utils.set_random_seed(30)
    rng = np.random.default_rng(30)
    x, y = make(2000, rng)
    xt, yt = make(600, rng)
    model = build()
    model.compile(keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, validation_data=(xt, yt), epochs=8, batch_size=50, verbose=2)
    pred = model.predict(xt, verbose=0).argmax(1)
    for k, name in enumerate(NAMES):
        row = np.bincount(pred[yt == k], minlength=len(NAMES))
        print(f"{name:11s}", " ".join(f"{v:4d}" for v in row))
    print("accuracy", round(float((pred == yt).mean()), 3))
