import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

GLYPHS = {
    "b": ["#...", "#...", "###.", "#..#", "#..#", "###."],
    "d": ["...#", "...#", ".###", "#..#", "#..#", ".###"],
    "o": ["....", ".##.", "#..#", "#..#", "#..#", ".##."],
    "x": ["#..#", "#..#", ".##.", ".##.", "#..#", "#..#"],
    "s": [".###", "#...", ".##.", "...#", "...#", "###."],
    "z": ["####", "...#", "..#.", ".#..", "#...", "####"],
    "j": ["...#", "...#", "...#", "...#", "#..#", ".##."],
    "l": ["#...", "#...", "#...", "#...", "#..#", ".##."],
}
LETTERS = list(GLYPHS)
SIZE = 16


def render(letter, rng):
    g = np.array([[c == "#" for c in row] for row in GLYPHS[letter]], "float32")
    g = np.kron(g, np.ones((2, 2), "float32"))
    canvas = np.zeros((SIZE, SIZE), "float32")
    top, left = rng.integers(0, SIZE - g.shape[0] + 1), rng.integers(0, SIZE - g.shape[1] + 1)
    canvas[top : top + g.shape[0], left : left + g.shape[1]] = g * rng.uniform(0.6, 1.0)
    return canvas + rng.normal(0, 0.15, canvas.shape)


def make_set(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(LETTERS), n)
    x = np.stack([render(LETTERS[k], rng) for k in y])[..., None]
    return x.astype("float32"), y.astype("int32")


def augmenter():
    return keras.Sequential([
        layers.RandomTranslation(0.1, 0.1, fill_mode="constant"),
        layers.RandomFlip("horizontal"),
        layers.RandomContrast(0.2),
    ], name="augment")


def build_model():
    return keras.Sequential([
        keras.Input((SIZE, SIZE, 1)),
        augmenter(),
        layers.Conv2D(24, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(48, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dropout(0.2),
        layers.Dense(len(LETTERS), activation="softmax"),
    ])


if __name__ == "__main__":
    keras.utils.set_random_seed(6)
    xtr, ytr = make_set(3000, 0)
    xte, yte = make_set(800, 1)
    model = build_model()
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(xtr, ytr, batch_size=32, epochs=12, validation_data=(xte, yte), verbose=2)
    pred = model.predict(xte, verbose=0).argmax(1)
    print("accuracy", round(float((pred == yte).mean()), 3))
    for k, letter in enumerate(LETTERS):
        print(f"  {letter}: {np.mean(pred[yte == k] == k):.2f}")
