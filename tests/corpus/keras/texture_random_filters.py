"""Fabric textures: fixed random convolution bank, only the read-out on top learns."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import keras
from keras import layers, ops

keras.utils.set_random_seed(60)
rng = np.random.default_rng(60)
SIZE, WEAVES = 28, ["twill", "herringbone", "plain", "stripe", "speckle"]


def swatch(kind):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    px, py = rng.uniform(0, 6, 2)
    f = rng.uniform(0.9, 1.2)
    if kind == 0:
        img = np.sin(f * (xx + yy) + px)
    elif kind == 1:
        img = np.sin(f * (xx + np.abs((yy + int(py)) % 14 - 7)) + px)
    elif kind == 2:
        img = np.sin(f * xx + px) * np.sin(f * yy + py)
    elif kind == 3:
        img = np.sin(f * xx + px)
    else:
        img = (rng.random((SIZE, SIZE)) < 0.15) * 3.0 - 0.45
    return img + rng.normal(0, 0.5, (SIZE, SIZE))


def cloth(n):
    y = rng.integers(0, len(WEAVES), n)
    return np.stack([swatch(k) for k in y])[..., None].astype("float32"), y


x, y = cloth(2500)
xv, yv = cloth(600)

bank = keras.Sequential([
    keras.Input((SIZE, SIZE, 1)),
    layers.Conv2D(96, 7, kernel_initializer=keras.initializers.RandomNormal(stddev=0.15), activation="relu"),
    layers.GlobalAveragePooling2D(),
], name="random_bank")
bank.trainable = False

inp = keras.Input((SIZE, SIZE, 1))
feat = layers.BatchNormalization()(bank(inp))
out = layers.Dense(len(WEAVES), activation="softmax")(layers.Dense(48, activation="relu")(feat))
model = keras.Model(inp, out)
print("trainable", sum(int(ops.size(w)) for w in model.trainable_weights),
      "frozen", sum(int(ops.size(w)) for w in model.non_trainable_weights))

model.compile(keras.optimizers.Adam(5e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
before = bank.get_weights()[0].copy()
model.fit(x, y, validation_data=(xv, yv), epochs=10, batch_size=64, verbose=2)
assert np.array_equal(before, bank.get_weights()[0])
pred = model.predict(xv, verbose=0).argmax(1)
print({w: round(float((pred[yv == k] == k).mean()), 3) for k, w in enumerate(WEAVES)})
