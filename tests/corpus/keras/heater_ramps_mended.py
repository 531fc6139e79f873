"""Sort furnace heating programmes (ramp up, ramp down, soak in the middle, dip) with a small transformer."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(3)
STEPS, D_MODEL, CLASSES = 48, 32, 4


def make(n, seed):
    r = np.random.default_rng(seed)
    t = np.linspace(0, 1, STEPS)
    shapes = np.stack([t, 1 - t, 1 - np.abs(2 * t - 1), np.abs(2 * t - 1)])
    y = r.integers(0, CLASSES, n)
    amp = r.uniform(0.8, 2.0, (n, 1))
    x = amp * shapes[y] + r.normal(0, 0.25, (n, STEPS)) + r.normal(0, 0.1, (n, 1))
    return x[..., None].astype("float32"), y.astype("int32")


class SinusoidalPositions(layers.Layer):
    def __init__(self, d_model, max_len=512, **kw):
        super().__init__(**kw)
        pos = np.arange(max_len)[:, None]
        div = np.exp(np.arange(0, d_model, 2) * (-np.log(10000.0) / d_model))
        table = np.zeros((max_len, d_model), "float32")
        table[:, 0::2] = np.sin(pos * div)
        table[:, 1::2] = np.cos(pos * div)
        self.table = tf.constant(table)

    def call(self, x):
        return x + self.table[None, :tf.shape(x)[1], :]


class Block(layers.Layer):
    def __init__(self, d_model, heads, **kw):
        super().__init__(**kw)
        self.att = layers.MultiHeadAttention(heads, d_model // heads)
        self.n1 = layers.LayerNormalization()
        self.n2 = layers.LayerNormalization()
        self.up = layers.Dense(2 * d_model, activation="gelu")
        self.down = layers.Dense(d_model)

    def call(self, x):
        h = self.n1(x)
        x = x + self.att(h, h)
        return x + self.down(self.up(self.n2(x)))


class ProgrammeSorter(keras.Model):
    def __init__(self):
        super().__init__()
        self.inp = layers.Dense(D_MODEL)
        self.pos = SinusoidalPositions(D_MODEL)
        self.blocks = [Block(D_MODEL, 4) for _ in range(2)]
        self.pool = layers.GlobalAveragePooling1D()
        self.out = layers.Dense(CLASSES)

    def call(self, x):
        h = self.pos(self.inp(x))
        for b in self.blocks:
            h = b(h)
        return self.out(self.pool(h))


x_tr, y_tr = make(3000, 0)
x_va, y_va = make(600, 1)

model = ProgrammeSorter()
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x_tr, y_tr, validation_data=(x_va, y_va), batch_size=64, epochs=6, verbose=2)

pred = model.predict(x_va, batch_size=64, verbose=0).argmax(1)
table = np.zeros((CLASSES, CLASSES), int)
np.add.at(table, (y_va, pred), 1)
print(table)
print("accuracy", (pred == y_va).mean())
