import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

tf.random.set_seed(3)
rng = np.random.default_rng(3)

KINDS = ["steady", "rising", "falling", "two-tone"]


def make_contour(kind):
    n = rng.integers(18, 50)
    t = np.linspace(0, 1, n)
    base = rng.normal(0, 0.3)
    if kind == 0:
        c = np.zeros(n)
    elif kind == 1:
        c = 1.5 * t
    elif kind == 2:
        c = -1.5 * t
    else:
        c = np.where(t < 0.5, 0.7, -0.7)
    return (base + c - c.mean() + rng.normal(0, 0.15, n)).astype("float32")


labels = rng.integers(0, 4, 900)
contours = [make_contour(k) for k in labels]


def gen(lo, hi):
    def inner():
        for i in range(lo, hi):
            yield contours[i][:, None], labels[i]
    return inner


spec = (
    tf.TensorSpec(shape=(None, 1), dtype=tf.float32),
    tf.TensorSpec(shape=(), dtype=tf.int32),
)
train = tf.data.Dataset.from_generator(gen(0, 700), output_signature=spec)
train = train.shuffle(700).batch(16).prefetch(2)
val = tf.data.Dataset.from_generator(gen(700, 900), output_signature=spec).batch(16)

model = keras.Sequential([
    keras.Input(shape=(None, 1)),
    layers.Masking(0.0),
    layers.GRU(32),
    layers.Dense(32, activation="relu"),
    layers.Dense(len(KINDS), activation="softmax"),
])
model.compile(
    optimizer=keras.optimizers.Adam(0.005),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(train, validation_data=val, epochs=8, verbose=2)
print("val loss, acc:", model.evaluate(val, verbose=0))
