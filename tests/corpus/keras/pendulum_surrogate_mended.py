from dataclasses import dataclass

import numpy as np
import tensorflow as tf
import keras
from keras import layers


@dataclass
class Phase:
    name: str
    released: float
    rows: int
    epochs: int
    lr: float


PHASES = [
    Phase("pretrain", released=0.0, rows=3000, epochs=10, lr=2e-3),
    Phase("finetune", released=0.15, rows=1500, epochs=10, lr=1e-3),
]

keras.utils.set_random_seed(41)
rng = np.random.default_rng(41)


def simulate(n, released):
    pos = rng.uniform(-1, 1, (n, 3))
    vel = rng.normal(0, 1.2, (n, 3))
    at_rest = rng.random(n) < released
    vel[at_rest] = 0.0
    speed = np.linalg.norm(vel, axis=1, keepdims=True)
    spring = -2.0 * pos - 1.5 * pos * (pos ** 2).sum(1, keepdims=True)
    drag = -0.4 * speed * vel
    gravity = np.array([[0.0, 0.0, -1.0]])
    acc = spring + drag + gravity + rng.normal(0, 0.02, (n, 3))
    return {"pos": pos.astype("float32"), "vel": vel.astype("float32")}, acc.astype("float32")


class DragFrame(layers.Layer):
    def __init__(self, heads=4):
        super().__init__()
        self.heads = heads

    def build(self, shape):
        self.frames = self.add_weight(
            name="frames", shape=(self.heads, shape[-1], 3), initializer="glorot_uniform"
        )

    def call(self, vel):
        local = tf.einsum("bi,hij->bhj", vel, self.frames)
        size = tf.sqrt(tf.reduce_sum(local ** 2, axis=-1, keepdims=True) + 1e-8)
        return tf.reshape(tf.concat([size * local, size], -1), [-1, self.heads * 4])

    def compute_output_shape(self, shape):
        return (shape[0], self.heads * 4)


def build_surrogate():
    pos = layers.Input((3,), name="pos")
    vel = layers.Input((3,), name="vel")
    h = layers.Concatenate()([pos, DragFrame()(vel)])
    h = layers.Dense(64, activation="gelu")(h)
    h = layers.Dense(64, activation="gelu")(h)
    out = layers.Dense(3)(h)
    return keras.Model({"pos": pos, "vel": vel}, out)


def score(model, data):
    x, y = data
    pred = model.predict(x, verbose=0, batch_size=512)
    return float(1 - ((pred - y) ** 2).sum() / ((y - y.mean(0)) ** 2).sum())


surrogate = build_surrogate()
for phase in PHASES:
    x, y = simulate(phase.rows, phase.released)
    held = simulate(600, phase.released)
    surrogate.compile(optimizer=keras.optimizers.Adam(phase.lr), loss="mse")
    hist = surrogate.fit(x, y, epochs=phase.epochs, batch_size=64, verbose=0)
    print(f"{phase.name}: loss {hist.history['loss'][0]:.4f} -> {hist.history['loss'][-1]:.4f}"
          f"  held-out R2 {score(surrogate, held):.3f}")

final = simulate(1000, 0.15)
print(f"final R2 {score(surrogate, final):.3f}")
