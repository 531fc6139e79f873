import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import math
import numpy as np
import keras
import tensorflow as tf

keras.utils.set_random_seed(1)


def moons(n, seed):
    r = np.random.default_rng(seed)
    t = r.uniform(0, np.pi, n)
    up = r.random(n) < 0.5
    x = np.where(up, np.cos(t), 1 - np.cos(t))
    y = np.where(up, np.sin(t), 0.5 - np.sin(t))
    pts = np.stack([x, y], 1) + r.normal(0, 0.06, (n, 2))
    return ((pts - [0.5, 0.25]) / [0.87, 0.5]).astype("float32")


class Coupling(keras.layers.Layer):
    def __init__(self, flip, width=64):
        super().__init__()
        self.flip = flip
        self.net = keras.Sequential([
            keras.layers.Dense(width, "silu"), keras.layers.Dense(width, "silu"),
            keras.layers.Dense(2, kernel_initializer="zeros")])   # identity map at the start

    def build(self, shape):
        self.net.build((None, 1))

    def parts(self, x):
        a, b = x[:, :1], x[:, 1:]
        return (b, a) if self.flip else (a, b)

    def join(self, a, b):
        return tf.concat([b, a] if self.flip else [a, b], 1)

    def call(self, x):
        keep, move = self.parts(x)
        s, t = tf.split(self.net(keep), 2, 1)
        s = 2.0 * tf.tanh(s / 2.0)
        return self.join(keep, move * tf.exp(s) + t), s[:, 0]

    def inverse(self, z):
        keep, move = self.parts(z)
        s, t = tf.split(self.net(keep), 2, 1)
        s = 2.0 * tf.tanh(s / 2.0)
        return self.join(keep, (move - t) * tf.exp(-s))


class Flow(keras.Model):
    def __init__(self, depth=8):
        super().__init__()
        self.steps = [Coupling(i % 2 == 1) for i in range(depth)]
        self.tracker = keras.metrics.Mean(name="nll")

    @property
    def metrics(self):
        return [self.tracker]

    def call(self, x):
        logdet = tf.zeros(tf.shape(x)[0])
        for s in self.steps:
            x, ld = s(x)
            logdet += ld
        return -0.5 * tf.reduce_sum(x ** 2, 1) - math.log(2 * math.pi) + logdet

    def sample(self, n):
        z = tf.random.normal([n, 2])
        for s in reversed(self.steps):
            z = s.inverse(z)
        return z

    def train_step(self, x):
        with tf.GradientTape() as tape:
            nll = -tf.reduce_mean(self(x, training=True))
        v = self.trainable_variables
        self.optimizer.apply(tape.gradient(nll, v), v)
        self.tracker.update_state(nll)
        return {"nll": self.tracker.result()}

    def test_step(self, x):
        self.tracker.update_state(-tf.reduce_mean(self(x, training=False)))
        return {"nll": self.tracker.result()}


class OneCycle(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, total):
        self.peak, self.total = peak, total

    def __call__(self, step):
        f = tf.cast(step, tf.float32) / self.total
        up = f / 0.25
        down = 0.5 * (1 + tf.cos(math.pi * tf.clip_by_value((f - 0.25) / 0.75, 0.0, 1.0)))
        return self.peak * tf.where(f < 0.25, 0.05 + 0.95 * up, 0.01 + 0.99 * down)


train, val = moons(6000, 0), moons(2000, 1)
flow = Flow()
flow(train[:2])
flow.compile(optimizer=keras.optimizers.Adam(OneCycle(4e-3, 12 * 47), global_clipnorm=5.0))
flow.fit(tf.data.Dataset.from_tensor_slices(train).shuffle(6000).batch(128), epochs=12,
         validation_data=tf.data.Dataset.from_tensor_slices(val).batch(500), verbose=2)
pts = flow.sample(2000).numpy()
gap = np.sqrt(((pts[:, None] - val[None, :1000]) ** 2).sum(-1)).min(1)
print("median distance from a sample to the nearest held-out point", np.median(gap))
