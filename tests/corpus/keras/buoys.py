"""Where is the buoy, and what kind is it? One object per picture."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(17)
SIDE, KINDS = 40, 4


def render(n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    images = rng.normal(0.2, 0.05, (n, SIDE, SIDE, 1))
    kinds = rng.integers(0, KINDS, n)
    boxes = np.zeros((n, 4))
    for i, k in enumerate(kinds):
        w = rng.integers(10, 15)
        x0, y0 = rng.integers(0, SIDE - w, 2)
        cx, cy = x0 + w / 2, y0 + w / 2
        r = np.hypot(xx - cx, yy - cy) / (w / 2)
        inside = np.maximum(np.abs(xx - cx), np.abs(yy - cy)) < w / 2
        shape = [inside, (r < 1) & (r > 0.5), inside & (yy % 4 < 2), inside & (xx % 4 < 2)][k]
        images[i, ..., 0] += 0.8 * shape
        boxes[i] = [x0, y0, x0 + w, y0 + w]
    return images.astype("float32"), boxes.astype("float32"), kinds


def detector():
    inp = keras.Input((SIDE, SIDE, 1))
    x = inp
    for filters in (16, 32, 32):
        x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
        x = layers.MaxPooling2D()(x)
    x = layers.Flatten()(x)
    x = layers.Dense(64, activation="relu")(x)
    box = layers.Dense(4, name="box")(x)
    kind = layers.Dense(KINDS, activation="softmax", name="kind")(x)
    return keras.Model(inp, {"box": box, "kind": kind})


x_train, box_train, kind_train = render(1200, 0)
x_val, box_val, kind_val = render(300, 1)

model = detector()
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss={"box": "mse", "kind": "sparse_categorical_crossentropy"},
    metrics={"kind": "accuracy", "box": "mae"},
)
model.fit(
    x_train, {"box": box_train, "kind": kind_train},
    validation_data=(x_val, {"box": box_val, "kind": kind_val}),
    epochs=10, batch_size=32, verbose=2,
)

pred = model.predict(x_val, verbose=0)
print("kind accuracy", np.mean(pred["kind"].argmax(1) == kind_val))
print("box error, px", np.abs(pred["box"] - box_val).mean())
