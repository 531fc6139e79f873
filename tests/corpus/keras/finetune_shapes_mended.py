import numpy as np
import keras
from keras import layers
from sklearn.model_selection import train_test_split

SEED = 5
SIZE = 16
SHAPES = ["disc", "ring", "square", "cross", "bars", "checker"]


def draw(kind, rng):
    yy, xx = np.mgrid[:SIZE, :SIZE].astype("float32")
    cy, cx = rng.uniform(5, 10, 2)
    r = rng.uniform(3, 5.5)
    dy, dx = yy - cy, xx - cx
    dist = np.hypot(dy, dx)
    if kind == "disc":
        img = dist < r
    elif kind == "ring":
        img = (dist < r) & (dist > r - 1.8)
    elif kind == "square":
        img = np.maximum(abs(dy), abs(dx)) < r * 0.85
    elif kind == "cross":
        img = ((abs(dy) < 1.2) | (abs(dx) < 1.2)) & (np.maximum(abs(dy), abs(dx)) < r)
    elif kind == "bars":
        img = (np.floor(dx) % 3 == 0) & (dist < r * 1.2)
    else:
        img = ((np.floor(dy) + np.floor(dx)) % 2 == 0) & (dist < r * 1.1)
    img = img.astype("float32") * rng.uniform(0.6, 1.0)
    return img + rng.normal(0, 0.2, img.shape)


def dataset(n, kinds, rng):
    y = rng.integers(0, len(kinds), n)
    x = np.stack([draw(kinds[k], rng) for k in y]).astype("float32")[..., None]
    return x, y


def make_backbone():
    return keras.Sequential([
        keras.Input((SIZE, SIZE, 1)),
        layers.Conv2D(12, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(16, 3, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(8, activation="relu"),
    ], name="backbone")


def attach_head(backbone, n_classes):
    inp = keras.Input((SIZE, SIZE, 1))
    out = layers.Dense(n_classes, activation="softmax")(backbone(inp))
    return keras.Model(inp, out)


def compile_model(model, lr):
    model.compile(keras.optimizers.Adam(lr), "sparse_categorical_crossentropy", metrics=["accuracy"])


keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

x_src, y_src = dataset(800, ["disc", "cross"], rng)
x, y = dataset(1600, SHAPES, rng)
x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.25, random_state=SEED)

backbone = make_backbone()
source = attach_head(backbone, 2)
compile_model(source, 3e-3)
source.fit(x_src, y_src, epochs=4, batch_size=32, verbose=0)
print("source accuracy", source.evaluate(x_src, y_src, verbose=0)[1])

backbone.trainable = False
target = attach_head(backbone, len(SHAPES))
compile_model(target, 5e-3)
target.fit(x_tr, y_tr, epochs=6, batch_size=32, verbose=2)
print("head only", target.evaluate(x_te, y_te, verbose=0)[1])

backbone.trainable = True
compile_model(target, 5e-3)
target.fit(x_tr, y_tr, epochs=20, batch_size=32, validation_data=(x_te, y_te), verbose=2)

loss, acc = target.evaluate(x_te, y_te, verbose=0)
print(f"after fine-tuning: loss {loss:.4f} accuracy {acc:.4f}")
