"""Writer embedding from pen strokes, trained with triplets, judged by retrieval on new writers."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(4)
T, DIM, SHARP = 48, 24, 8.0


def writers(n_writers, per_writer, seed, scans_twice=0):
    """(writer, specimen, T, 2) pen velocities; every hand has its own harmonics."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 2 * np.pi, T)
    k = np.arange(1, 6)[:, None]
    out = np.zeros((n_writers, per_writer, T, 2), "float32")
    for w in range(n_writers):
        amp = rng.normal(0, 1, (2, 5)) / np.arange(1, 6) ** 0.5
        ph = rng.uniform(0, 2 * np.pi, (2, 5))
        for s in range(per_writer):
            warp = t + 0.35 * rng.normal() * np.sin(t) + rng.uniform(0, 2 * np.pi)
            a = amp * rng.normal(1, 0.15, amp.shape)
            p = ph + rng.normal(0, 0.15, ph.shape)
            for d in range(2):
                out[w, s, :, d] = (a[d][:, None] * np.sin(k * warp[None] + p[d][:, None])).sum(0)
    out += rng.normal(0, 0.2, out.shape)
    out /= out.std((2, 3), keepdims=True)
    for w in rng.choice(n_writers, scans_twice, replace=False):
        i, j = rng.choice(per_writer, 2, replace=False)       # same sheet scanned a second time
        out[w, j] = out[w, i]
    return out.astype("float32")


def triplet_stream(bank, seed):
    rng = np.random.default_rng(seed)
    n_w, n_s = bank.shape[:2]
    while True:
        w = rng.integers(n_w)
        other = (w + rng.integers(1, n_w)) % n_w
        i, j = rng.choice(n_s, 2, replace=False)
        yield bank[w, i], bank[w, j], bank[other, rng.integers(n_s)]


def make_encoder():
    return keras.Sequential([
        layers.Input((T, 2)),
        layers.Conv1D(32, 7, activation="relu"),
        layers.Conv1D(64, 5, strides=2, activation="relu"),
        layers.Conv1D(64, 5, activation="relu"),
        layers.GlobalAveragePooling1D(),
        layers.Dense(DIM),
        layers.UnitNormalization(),
    ], name="hand_encoder")


def distance(a, b):
    d2 = tf.reduce_sum(tf.square(a - b), axis=-1)
    return tf.sqrt(tf.maximum(d2, 1e-9))


class TripletTrainer:
    def __init__(self, encoder, lr):
        self.encoder = encoder
        self.opt = keras.optimizers.Adam(lr)
        self.loss = keras.metrics.Mean()
        self.active = keras.metrics.Mean()

    @tf.function
    def step(self, anchor, pos, neg):
        with tf.GradientTape() as tape:
            za, zp, zn = [self.encoder(v, training=True) for v in (anchor, pos, neg)]
            gap = distance(za, zp) - distance(za, zn)
            loss = tf.reduce_mean(tf.nn.softplus(SHARP * gap)) / SHARP
        g = tape.gradient(loss, self.encoder.trainable_variables)
        self.opt.apply_gradients(zip(g, self.encoder.trainable_variables))
        self.loss.update_state(loss)
        self.active.update_state(tf.cast(gap > -0.3, tf.float32))

    def run(self, batches, steps):
        self.loss.reset_state()
        self.active.reset_state()
        for _ in range(steps):
            self.step(*next(batches))
        return float(self.loss.result()), float(self.active.result())


def recall_at_1(embed, bank):
    flat = bank.reshape(-1, T, 2)
    who = np.repeat(np.arange(bank.shape[0]), bank.shape[1])
    z = embed(flat)
    d = ((z[:, None] - z[None]) ** 2).sum(-1)
    np.fill_diagonal(d, np.inf)
    return float((who[d.argmin(1)] == who).mean())


train_bank = writers(120, 14, 0, scans_twice=4)
val_bank, test_bank = writers(20, 14, 1), writers(30, 14, 2)

spec = tf.TensorSpec((T, 2), tf.float32)
stream = tf.data.Dataset.from_generator(lambda: triplet_stream(train_bank, 77),
                                        output_signature=(spec, spec, spec)).batch(48).prefetch(4)
encoder = make_encoder()
trainer = TripletTrainer(encoder, 2e-3)
embed = lambda x: encoder(x, training=False).numpy()

batches = iter(stream)
for epoch in range(8):
    loss, active = trainer.run(batches, 50)
    print(f"epoch {epoch + 1}: loss {loss:.4f}  active triplets {active:.2f}  "
          f"val recall@1 {recall_at_1(embed, val_bank):.3f}")

raw = lambda x: x.reshape(len(x), -1)
print(f"new writers: recall@1 {recall_at_1(embed, test_bank):.3f}  "
      f"raw strokes {recall_at_1(raw, test_bank):.3f}  guessing {13 / (30 * 14 - 1):.3f}")
