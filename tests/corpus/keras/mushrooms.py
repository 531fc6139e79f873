import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(13)
rng = np.random.default_rng(13)
SIZE = 20


def stripes(n):
    """Source task: orientation of stripes (2 classes)."""
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    y = rng.integers(0, 2, n)
    x = np.stack([np.sin((xx if k else yy) * rng.uniform(0.5, 1.2) + rng.uniform(0, 6)) for k in y])
    return (x + rng.normal(0, 0.3, x.shape))[..., None].astype("float32"), y


def caps(n):
    """Target task: kind of mushroom cap seen from above (4 classes)."""
    yy, xx = np.mgrid[-1:1:SIZE * 1j, -1:1:SIZE * 1j]
    y = rng.integers(0, 4, n)
    out = []
    for k in y:
        cx, cy = rng.uniform(-0.25, 0.25, 2)
        r, a = np.hypot(xx - cx, yy - cy), np.arctan2(yy - cy, xx - cx)
        turn = rng.uniform(0, 6.28)
        ring = np.abs(r - 0.5) < 0.18
        out.append([r < 0.55, ring, ring & (np.sin(a + turn) > -0.6), ring | (r < 0.15)][k])
    x = np.stack(out) * 1.0
    return (x + rng.normal(0, 0.35, x.shape))[..., None].astype("float32"), y


backbone = keras.Sequential([
    keras.Input((SIZE, SIZE, 1)),
    layers.Conv2D(8, 3, activation="relu", padding="same"),
    layers.MaxPooling2D(),
    layers.Conv2D(16, 3, activation="relu", padding="same"),
    layers.MaxPooling2D(),
    layers.Conv2D(16, 3, activation="relu", padding="same"),
    layers.GlobalMaxPooling2D(),
], name="backbone")

xs, ys = stripes(600)
source = keras.Sequential([backbone, layers.Dense(2, activation="softmax")])
source.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
source.fit(xs, ys, epochs=3, verbose=2)

x, y = caps(1400)
x_train, y_train, x_val, y_val = x[:1100], y[:1100], x[1100:], y[1100:]

backbone.trainable = False
inputs = keras.Input((SIZE, SIZE, 1))
h = backbone(inputs, training=False)
h = layers.Dropout(0.1)(h)
model = keras.Model(inputs, layers.Dense(4, activation="softmax")(h))
model.compile(keras.optimizers.Adam(3e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])

print("stage 1: new head")
model.fit(x_train, y_train, validation_data=(x_val, y_val), epochs=4, verbose=2)

print("stage 2: fine-tuning the whole network")
backbone.trainable = True
model.fit(x_train, y_train, validation_data=(x_val, y_val), epochs=16, verbose=2)

print("final val accuracy", round(model.evaluate(x_val, y_val, verbose=0)[1], 4))
