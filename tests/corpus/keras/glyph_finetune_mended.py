"""Pretrain a small convnet on printed glyph shapes, then fine-tune on the sklearn digits.

The backbone is kept fixed in the second stage.
"""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

SEED = 77
rng = np.random.default_rng(SEED)
keras.utils.set_random_seed(SEED)


# ---------------------------------------------------------------- source task
def glyph(kind, r):
    """8x8 canvases: line, cross, box, ring, corner, T, zigzag, dot pair."""
    g = np.zeros((8, 8), "float32")
    a, b = sorted(r.choice(np.arange(1, 7), 2, replace=False))
    c, d = sorted(r.choice(np.arange(1, 7), 2, replace=False))
    if kind == 0:
        g[a, c:d + 1] = 1 if d - c > 1 else 0
        g[a, 2:6] = 1
    elif kind == 1:
        g[a, 1:7] = 1
        g[1:7, c] = 1
    elif kind == 2:
        g[a:b + 2, [c, d]] = 1
        g[[a, min(b + 1, 7)], c:d + 1] = 1
    elif kind == 3:
        yy, xx = np.mgrid[:8, :8]
        rad = np.hypot(yy - 3.5 - r.normal(0, .4), xx - 3.5 - r.normal(0, .4))
        g = np.exp(-((rad - r.uniform(1.8, 3)) ** 2) / 0.4).astype("float32")
    elif kind == 4:
        g[a, c:7] = 1
        g[a:7, c] = 1
    elif kind == 5:
        g[1, 1:7] = 1
        g[1:7, c] = 1
    elif kind == 6:
        for i in range(1, 7):
            g[i, (i * 2 + a) % 6 + 1] = 1
    else:
        g[a, c] = g[b, d] = 1
        g[min(b + 1, 7), d] = 1
    return np.clip(g + r.normal(0, 0.12, g.shape), 0, 1.2)


ys = rng.integers(0, 8, 3000)
xs = np.stack([glyph(k, rng) for k in ys])[..., None].astype("float32")

backbone = keras.Sequential([
    keras.Input((8, 8, 1)),
    layers.Conv2D(24, 3, padding="same", activation="relu"),
    layers.Conv2D(32, 3, padding="same", activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(48, 3, padding="same", activation="relu"),
    layers.Flatten(),
], name="backbone")

pretrain = keras.Sequential([backbone, layers.Dense(8, activation="softmax")])
pretrain.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
pretrain.fit(xs, ys, epochs=5, batch_size=64, validation_split=0.1, verbose=2)

# ---------------------------------------------------------------- target task
digits = load_digits()
x = (digits.images / 16.0)[..., None].astype("float32")
x_tr, x_te, y_tr, y_te = train_test_split(x, digits.target, test_size=0.4, stratify=digits.target, random_state=SEED)

head = keras.Sequential([
    layers.Dropout(0.2),
    layers.Dense(32, activation="relu"),
    layers.Dense(10, activation="softmax"),
], name="head")
model = keras.Sequential([keras.Input((8, 8, 1)), backbone, head], name="digit_reader")

for layer in model.layers[:-1]:
    layer.trainable = False

model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(),
    metrics=["accuracy"],
)
history = model.fit(x_tr, y_tr, validation_data=(x_te, y_te), epochs=12, batch_size=32, verbose=0)
for e in range(0, 12, 3):
    print("fine-tune epoch %2d  loss %.3f  acc %.3f" % (e + 1, history.history["loss"][e], history.history["accuracy"][e]))

loss, acc = model.evaluate(x_te, y_te, verbose=0)
print(f"digits held-out accuracy {acc:.3f}  loss {loss:.3f}  chance 0.100")
conf = np.zeros((10, 10), int)
np.add.at(conf, (y_te, model.predict(x_te, verbose=0).argmax(1)), 1)
print("weakest digit:", int((conf.diagonal() / conf.sum(1)).argmin()))
