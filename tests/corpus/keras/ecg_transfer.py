import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import tempfile
import numpy as np
import tensorflow as tf

LEN = 160
rng = np.random.default_rng(31)
tf.random.set_seed(31)


def beats(n, shapes):
    """Strips of ECG: each class has a wave form of its own, put at random places and under drift."""
    y = rng.integers(0, len(shapes), n)
    t = np.arange(LEN)
    x = np.zeros((n, LEN), "float32")
    for i in range(n):
        gap = rng.integers(32, 48)
        for c in range(int(rng.integers(4, 20)), LEN - 8, gap):
            for off, h, w in shapes[y[i]]:
                x[i] += h * np.exp(-0.5 * ((t - c - off) / w) ** 2)
        x[i] += 0.5 * np.sin(2 * np.pi * t / rng.uniform(80, 200) + rng.uniform(0, 6)) + 0.25 * rng.normal(size=LEN)
    return x[..., None], y.astype("int32")


SOURCE = [
    [(-8, 0.3, 3), (0, 1.5, 1.5), (12, 0.5, 4)],
    [(0, 1.2, 3.5), (14, -0.5, 4)],
    [(-8, 0.3, 3), (-3, -0.6, 1.5), (0, 1.2, 1.5)],
    [(0, 1.5, 1.5), (4, -0.9, 2), (12, 0.5, 4)],
    [(0, 0.9, 1.2), (6, 0.9, 1.2), (16, 0.4, 4)],
    [(-5, 0.8, 1.2), (0, -1.0, 1.5), (5, 0.8, 1.2)],
]
TARGET = [
    [(-8, 0.3, 3), (0, 1.4, 1.5), (12, -0.5, 4)],
    [(0, 1.1, 3.0), (12, 0.5, 4)],
    [(0, 1.0, 1.3), (5, 0.7, 1.3), (12, 0.4, 4)],
    [(-3, -0.7, 1.5), (0, 1.2, 1.5), (4, -0.7, 2)],
]


class Conv(tf.Module):
    def __init__(self, width, c_in, c_out, name=None):
        super().__init__(name=name)
        self.w = tf.Variable(tf.random.normal((width, c_in, c_out), stddev=(2.0 / (width * c_in)) ** 0.5))
        self.b = tf.Variable(tf.zeros((c_out,)))

    def __call__(self, x, stride):
        return tf.nn.relu(tf.nn.conv1d(x, self.w, stride, "SAME") + self.b)


class Encoder(tf.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.c2, self.c3 = Conv(9, 1, 16), Conv(7, 16, 24), Conv(5, 24, 24)

    def __call__(self, x):
        h = self.c3(self.c2(self.c1(x, 2), 2), 1)
        return tf.reduce_max(h, axis=1)


class Head(tf.Module):
    def __init__(self, n):
        super().__init__()
        self.w = tf.Variable(tf.random.normal((24, n), stddev=0.1))
        self.b = tf.Variable(tf.zeros((n,)))

    def __call__(self, h):
        return h @ self.w + self.b


def train(enc, head, params, x, y, steps, lr, batch=64):
    opt = tf.keras.optimizers.Adam(lr)
    opt.build(params)

    @tf.function
    def step(xb, yb):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=yb, logits=head(enc(xb))))
        opt.apply_gradients(zip(tape.gradient(loss, params), params))
        return loss

    for s in range(steps):
        i = rng.integers(0, len(x), min(batch, len(x)))
        loss = step(tf.constant(x[i]), tf.constant(y[i]))
        if s % 200 == 0 or s == steps - 1:
            print(f"   step {s:4d} loss {float(loss):.3f}")


def acc(enc, head, x, y):
    return float(np.mean(tf.argmax(head(enc(tf.constant(x))), -1).numpy() == y))


x, y = beats(3000, SOURCE)
enc, head = Encoder(), Head(len(SOURCE))
print("source hospital")
train(enc, head, list(enc.trainable_variables + head.trainable_variables), x, y, 1000, 3e-3)
print("source accuracy", acc(enc, head, *beats(800, SOURCE)))
folder = tempfile.mkdtemp()
path = tf.train.Checkpoint(encoder=enc, classifier=head).save(os.path.join(folder, "source"))

print("target hospital, 32 labelled strips")
backbone, new_head = Encoder(), Head(len(TARGET))
tf.train.Checkpoint(backbone=backbone).restore(path).expect_partial()
xt, yt = beats(32, TARGET)
train(backbone, new_head, list(new_head.trainable_variables), xt, yt, 600, 1e-2)
print("target accuracy", acc(backbone, new_head, *beats(1000, TARGET)))
