"""Event type from one-channel seismograms: a residual 1-D convnet in Keras.

Classes: local quake, distant quake, quarry blast, traffic, noise burst.
"""
import os

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(8)
LENGTH, KINDS = 128, ["local", "distant", "blast", "traffic", "burst"]
os.makedirs("out", exist_ok=True)


def trace(kind, rng):
    t = np.arange(LENGTH)
    onset = rng.integers(12, 50)
    rel = np.clip(t - onset, 0, None).astype(float)
    on = t >= onset
    p_s = {0: rng.uniform(10, 18), 1: rng.uniform(28, 40), 2: rng.uniform(10, 18)}.get(kind, 0)
    f = rng.uniform(0.2, 0.26)
    x = np.zeros(LENGTH)
    if kind in (0, 1, 2):
        s_on = rel > p_s
        s_gain = rng.uniform(1.4, 2.2) if kind < 2 else rng.uniform(0.35, 0.6)
        x += on * np.exp(-rel / 18) * np.sin(2 * np.pi * f * rel)
        x += s_on * s_gain * np.exp(-(rel - p_s).clip(0) / 22) * np.sin(2 * np.pi * 0.6 * f * rel)
    elif kind == 3:
        width = rng.uniform(14, 24)
        x += 1.3 * np.exp(-((t - onset - 20) / width) ** 2) * np.sin(2 * np.pi * f * t * (1 + 0.0006 * t))
    else:
        x += on * np.exp(-rel / 12) * rng.normal(0, 1.2, LENGTH)
    return x * rng.choice([-1, 1]) + rng.normal(0, 0.3, LENGTH)


def build_set(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(KINDS), n)
    x = np.stack([trace(k, rng) for k in y])
    x /= np.abs(x).max(1, keepdims=True)
    return x[..., None].astype("float32"), y


class ConvBlock(layers.Layer):
    def __init__(self, filters, kernel=7, **kw):
        super().__init__(**kw)
        self.conv1 = layers.Conv1D(filters, kernel, padding="same", use_bias=False)
        self.norm1 = layers.BatchNormalization(momentum=0.9)
        self.conv2 = layers.Conv1D(filters, kernel, padding="same", use_bias=False)
        self.norm2 = layers.BatchNormalization(momentum=0.9)

    def call(self, x, training=False):
        h = keras.activations.relu(self.norm1(self.conv1(x), training=training))
        h = self.norm2(self.conv2(h), training=training)
        return keras.activations.relu(x + h)


class SeismoNet(keras.Model):
    def __init__(self, filters=16, depth=6, classes=5):
        super().__init__()
        self.stem = layers.Conv1D(filters, 9, strides=2, padding="same", activation="relu")
        self.blocks = [ConvBlock(filters)] * depth
        self.pool = layers.GlobalAveragePooling1D()
        self.drop = layers.Dropout(0.2)
        self.out = layers.Dense(classes)

    def call(self, x, training=False):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x, training=training)
        return self.out(self.drop(self.pool(x), training=training))


x_train, y_train = build_set(2000, 1)
x_val, y_val = build_set(400, 2)
x_test, y_test = build_set(800, 3)

model = SeismoNet()
model.compile(
    optimizer=keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 8 * 32)),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
history = model.fit(
    x_train, y_train, validation_data=(x_val, y_val), epochs=8, batch_size=64, verbose=2,
    callbacks=[keras.callbacks.CSVLogger("out/seismic.csv")],
)
model.summary()
loss, acc = model.evaluate(x_test, y_test, verbose=0)
pred = model.predict(x_test, verbose=0).argmax(1)
for i, name in enumerate(KINDS):
    print(f"{name:8s} recall {(pred[y_test == i] == i).mean():.3f}")
print(f"test accuracy {acc:.3f}, loss {loss:.3f}, majority {np.bincount(y_test).max() / len(y_test):.3f}")
