"""Sequence-to-sequence rolling sum with a length curriculum, dynamic loss scaling and micro-batches."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(9)
STAGES = [(6, 60), (12, 90), (20, 150)]  # (longest sequence, updates)
ACCUM = 2
MICRO = 32


class LossScale:
    """Doubles after a run of finite steps, halves and skips on overflow."""

    def __init__(self, start=2.0 ** 10, every=50):
        self.value, self.every, self.good = start, every, 0

    def report(self, finite):
        if not finite:
            self.value, self.good = self.value / 2, 0
        else:
            self.good += 1
            if self.good == self.every:
                self.value, self.good = min(self.value * 2, 2.0 ** 14), 0


def sample(rng, n, longest):
    """Leaky running sum of +-1 steps, gated by a second channel; zero-padded on the right."""
    lengths = rng.integers(3, longest + 1, n)
    x = np.zeros((n, longest, 2), np.float32)
    y = np.zeros((n, longest, 1), np.float32)
    mask = np.arange(longest)[None] < lengths[:, None]
    x[..., 0] = rng.normal(0, 1, (n, longest)) * mask
    x[..., 1] = (rng.random((n, longest)) < 0.5) * mask
    s = np.zeros(n)
    for t in range(longest):
        s = np.where(x[:, t, 1] > 0, 0.8 * s + 0.5 * x[:, t, 0], s)
        y[:, t, 0] = s
    return x, y, mask.astype(np.float32)


inp = keras.Input((None, 2))
h = layers.GRU(24, return_sequences=True)(inp)
h = layers.LayerNormalization()(h)
h = layers.Dense(24, activation="tanh")(h)
model = keras.Model(inp, layers.Dense(1)(h))
variables = model.trainable_variables
optimizer = keras.optimizers.Adam(5e-3, beta_2=0.99)
optimizer.build(variables)
buffers = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in variables]


@tf.function(reduce_retracing=True)
def micro(x, y, m, scale):
    with tf.GradientTape() as tape:
        err = tf.square(model(x, training=True) - y)[..., 0]
        loss = tf.reduce_sum(err * m) / tf.reduce_sum(m)
        scaled = loss * scale / ACCUM
    for b, g in zip(buffers, tape.gradient(scaled, variables)):
        b.assign_add(g)
    return loss


@tf.function
def apply(scale):
    grads = [b / scale for b in buffers]
    norm = tf.linalg.global_norm(grads)
    finite = tf.math.is_finite(norm)
    if finite:
        grads, _ = tf.clip_by_global_norm(grads, 1.0, use_norm=norm)
        optimizer.apply_gradients(zip(grads, variables))
    for b in buffers:
        b.assign(tf.zeros_like(b))
    return finite, norm


def held_out(longest):
    x, y, m = sample(np.random.default_rng(999), 400, longest)
    p = model(x, training=False).numpy()
    mse = float((((p - y)[..., 0] ** 2) * m).sum() / m.sum())
    var = float(((y[..., 0] ** 2) * m).sum() / m.sum())
    return mse, var


rng = np.random.default_rng(0)
ls = LossScale()
for stage, (longest, updates) in enumerate(STAGES, 1):
    losses, norms = [], []
    for _ in range(updates):
        scale = tf.constant(ls.value, tf.float32)
        for _ in range(ACCUM):
            losses.append(float(micro(*map(tf.constant, sample(rng, MICRO, longest)), scale)))
        finite, norm = apply(scale)
        norms.append(float(norm))
        ls.report(bool(finite))
    mse, var = held_out(20)
    # the training loss steps up whenever longer sequences come in
    print(f"stage {stage} (<= {longest}) loss {np.mean(losses[-20:]):.4f} norm {np.mean(norms[-10:]):.3f} "
          f"scale {ls.value:.0f} | held-out length 20: mse {mse:.4f} of variance {var:.4f}")
print(f"held-out R2 {1 - mse / var:.3f}")
