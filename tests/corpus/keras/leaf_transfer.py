import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(13)
rng = np.random.default_rng(13)
S = 20


def texture(kind, n):
    """Stripe textures. kind = (frequency, angle in degrees)."""
    freq, ang = kind
    yy, xx = np.mgrid[0:S, 0:S] / S
    a = np.deg2rad(ang + rng.normal(0, 4, (n, 1, 1)))
    phase = rng.uniform(0, 2 * np.pi, (n, 1, 1))
    wave = np.sin(2 * np.pi * freq * (xx * np.cos(a) + yy * np.sin(a)) + phase)
    return (wave + rng.normal(0, 1.1, (n, S, S))).astype("float32")[..., None]


def dataset(kinds, per_class):
    x = np.concatenate([texture(k, per_class) for k in kinds])
    y = np.repeat(np.arange(len(kinds)), per_class)
    order = rng.permutation(len(x))
    return x[order], y[order]


# --- source task: coarse bark, two horizontal / vertical stripe widths
bark_kinds = [(2, 0), (2, 90)]
bark_x, bark_y = dataset(bark_kinds, 500)

backbone = keras.Sequential([
    keras.Input((S, S, 1)),
    layers.Conv2D(16, 5, padding="same", activation="relu"),
    layers.MaxPooling2D(2),
    layers.Conv2D(16, 3, padding="same", activation="relu"),
    layers.GlobalAveragePooling2D(),
], name="backbone")

bark = keras.Sequential([backbone, layers.Dense(len(bark_kinds), activation="softmax")])
bark.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
bark.fit(bark_x, bark_y, epochs=4, batch_size=64, verbose=2)

# --- target task: leaf venation, eight classes that differ in angle and frequency
leaf_kinds = [(3, 20), (3, 50), (3, 80), (3, 140), (5, 20), (5, 50), (5, 110), (5, 140)]
leaf_x, leaf_y = dataset(leaf_kinds, 350)
test_x, test_y = dataset(leaf_kinds, 100)

backbone.trainable = False
leaf = keras.Sequential([backbone, layers.Dense(len(leaf_kinds), activation="softmax")])
leaf.compile(keras.optimizers.Adam(3e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
print("stage 1: head only")
leaf.fit(leaf_x, leaf_y, validation_data=(test_x, test_y), epochs=4, batch_size=32, verbose=2)

print("stage 2: whole network")
backbone.trainable = True
leaf.fit(leaf_x, leaf_y, validation_data=(test_x, test_y), epochs=12, batch_size=32, verbose=2)

loss, acc = leaf.evaluate(test_x, test_y, verbose=0)
print(f"leaf test loss {loss:.3f} accuracy {acc:.3f}")
