"""Small CNN that tells apart eight drawn glyphs on 20x20 tiles."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(11)
rng = np.random.default_rng(11)
SIZE = 20
NAMES = ["bar_h", "bar_v", "cross", "box", "diag", "anti", "dot", "ell"]


def draw(kind):
    img = np.zeros((SIZE, SIZE), "float32")
    r, c = rng.integers(7, 13, 2)
    k = rng.integers(4, 7)
    if kind in (0, 2):
        img[r, c - k:c + k + 1] = 1
    if kind in (1, 2):
        img[r - k:r + k + 1, c] = 1
    if kind == 3:
        img[r - k, c - k:c + k + 1] = img[r + k, c - k:c + k + 1] = 1
        img[r - k:r + k + 1, c - k] = img[r - k:r + k + 1, c + k] = 1
    if kind in (4, 5):
        for d in range(-k, k + 1):
            img[r + d, c + (d if kind == 4 else -d)] = 1
    if kind == 6:
        img[r - 1:r + 2, c - 1:c + 2] = 1
    if kind == 7:
        img[r - k:r + k + 1, c - k] = 1
        img[r + k, c - k:c + k + 1] = 1
    return np.clip(img + rng.normal(0, 0.25, img.shape), -1, 2)


def make(n):
    y = rng.integers(0, len(NAMES), n)
    x = np.stack([draw(k) for k in y])[..., None].astype("float32")
    return x, y.astype("int32")


x_train, y_train = make(3000)
x_test, y_test = make(600)

model = keras.Sequential([
    keras.Input((SIZE, SIZE, 1)),
    layers.Conv2D(16, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(32, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Flatten(),
    layers.Dense(64, activation="relu"),
    layers.Dense(len(NAMES)),
])
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(x_train, y_train, batch_size=32, epochs=6, validation_split=0.1, verbose=2)

loss, acc = model.evaluate(x_test, y_test, verbose=0)
print(f"test loss {loss:.4f}  test accuracy {acc:.4f}")
pred = model.predict(x_test, verbose=0).argmax(1)
for i, name in enumerate(NAMES):
    m = y_test == i
    print(f"  {name:6s} recall {np.mean(pred[m] == i):.2f}")
