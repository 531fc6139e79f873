"""Next-note model for reed-pipe tunes: gated dilated convolutions, teacher-forced training, then free-running composition."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
from types import SimpleNamespace

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

hp = SimpleNamespace(notes=16, length=36, tunes=1200, width=32, dilations=(1, 2, 4, 8), batch=50, epochs=8, lr=6e-3, seed=13)
keras.utils.set_random_seed(hp.seed)
rng = np.random.default_rng(hp.seed)
# every pair of notes allows three continuations
RULES = np.stack([[rng.choice(hp.notes, 3, replace=False) for _ in range(hp.notes)] for _ in range(hp.notes)])


def compose(n):
    t = np.empty((n, hp.length + 1), "int32")
    t[:, :2] = rng.integers(0, hp.notes, (n, 2))
    for i in range(2, hp.length + 1):
        t[:, i] = RULES[t[:, i - 2], t[:, i - 1], rng.choice(3, n, p=[0.6, 0.3, 0.1])]
    return t


def in_style(tunes):
    nxt = RULES[tunes[:, :-2], tunes[:, 1:-1]]
    return (nxt == tunes[:, 2:, None]).any(-1)


class GatedBlock(layers.Layer):
    def __init__(self, width, dilation, last=False):
        super().__init__()
        self.filt = layers.Conv1D(width, 2, dilation_rate=dilation, padding="causal", activation="tanh")
        self.gate = layers.Conv1D(width, 2, dilation_rate=dilation, padding="same", activation="sigmoid")
        self.skip = layers.Dense(width)
        self.res = None if last else layers.Dense(width)

    def call(self, h):
        g = self.filt(h) * self.gate(h)
        return h if self.res is None else h + self.res(g), self.skip(g)


class ReedNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.emb = layers.Embedding(hp.notes, hp.width)
        self.blocks = [GatedBlock(hp.width, d, last=d == hp.dilations[-1]) for d in hp.dilations]
        self.post = layers.Dense(64, activation="relu")
        self.out = layers.Dense(hp.notes)

    def call(self, ids):
        h, total = self.emb(ids), 0.0
        for block in self.blocks:
            h, s = block(h)
            total = total + s
        return self.out(self.post(tf.nn.relu(total)))


def split(t):
    return t[:, :-1], t[:, 1:]


model = ReedNet()
opt = keras.optimizers.Adam(hp.lr)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = ce(y, model(x, training=True))
    grads, _ = tf.clip_by_global_norm(tape.gradient(loss, model.trainable_variables), 1.0)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices(compose(hp.tunes)).shuffle(hp.tunes).map(lambda t: (t[:-1], t[1:])).batch(hp.batch)
for epoch in range(hp.epochs):
    losses = [train_step(x, y) for x, y in ds]
    print(f"epoch {epoch + 1}  loss {float(tf.reduce_mean(losses)):.3f}")

x_val, y_val = split(compose(200))
print(f"validation cross-entropy {float(ce(y_val, model(x_val))):.3f}")

# compose: 100 tunes, two given notes, the rest drawn from the model
tunes = np.zeros((100, hp.length), "int32")
tunes[:, :2] = compose(100)[:, :2]
forward = tf.function(lambda ids: model(ids, training=False))
for i in range(2, hp.length):
    tunes[:, i] = tf.random.categorical(forward(tf.constant(tunes))[:, i - 1], 1)[:, 0]
print(f"notes in style: composed {in_style(tunes).mean():.3f}, real {in_style(compose(100)).mean():.3f}, random {3 / hp.notes:.3f}")
