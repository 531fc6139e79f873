# Two kinds of echoes lie along interleaved arms in (range, bearing) space. Tell them apart.
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(3)


def echoes(n, seed):
    g = np.random.default_rng(seed)
    kind = g.integers(0, 2, n)
    u = g.uniform(0.15, 1.0, n)
    angle = 2.2 * np.pi * u + np.pi * kind
    xy = np.stack([u * np.cos(angle), u * np.sin(angle)], 1) + g.normal(0, 0.025, (n, 2))
    extra = g.normal(0, 0.5, (n, 2))
    return np.hstack([2 * xy, extra]).astype("float32"), kind.astype("float32")


def block(x, units, drop=0.0):
    x = layers.Dense(units, kernel_initializer="he_normal")(x)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU()(x)
    if drop:
        x = layers.Dropout(drop)(x)
    return x


def build(widths=(64, 64, 64)):
    inp = keras.Input((4,), name="echo")
    x = inp
    for w in widths:
        x = block(x, w, drop=0.05)
    out = layers.Dense(1, activation="sigmoid")(x)
    return keras.Model(inp, out, name="sonar")


train = tf.data.Dataset.from_tensor_slices(echoes(4000, 1)).cache().shuffle(4000).batch(64)
val = tf.data.Dataset.from_tensor_slices(echoes(1000, 2)).batch(250)

model = build()
model.summary()
model.compile(
    optimizer=keras.optimizers.AdamW(4e-3, weight_decay=1e-4),
    loss="binary_crossentropy",
    metrics=["accuracy", keras.metrics.AUC(name="auc")],
)
hist = model.fit(train, validation_data=val, epochs=20, verbose=2)
print("final: accuracy %.3f, AUC %.3f" % (hist.history["val_accuracy"][-1], hist.history["val_auc"][-1]))
