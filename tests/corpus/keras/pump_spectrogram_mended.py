import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import resource
import time
from dataclasses import dataclass, field

import numpy as np
import tensorflow as tf


@dataclass
class Conf:
    bands: int = 64
    frames: int = 96
    code: int = 24
    batch: int = 64
    steps: int = 700
    lr: float = 2e-3


@dataclass
class Journal:
    entries: list = field(default_factory=list)

    def add(self, **kw):
        self.entries.append(kw)

    def curve(self, every=50):
        vals = [float(e["loss"]) for e in self.entries]
        return [round(float(np.mean(vals[i:i + every])), 4) for i in range(0, len(vals), every)]


def clips(n, conf, rng):
    t = np.arange(conf.frames)[None, :, None]
    f = np.arange(conf.bands)[None, None, :]
    base = rng.uniform(6, 20, (n, 1, 1))
    wob = rng.uniform(0, 3, (n, 1, 1)) * np.sin(2 * np.pi * t * rng.uniform(0.5, 2, (n, 1, 1)) / conf.frames)
    out = np.zeros((n, conf.frames, conf.bands))
    for k in (1, 2, 3):
        out += np.exp(-0.5 * ((f - k * (base + wob)) / 1.8) ** 2) / k
    return (out + rng.normal(0, 0.03, out.shape)).astype("float32")


class PumpCoder(tf.keras.Model):
    def __init__(self, conf):
        super().__init__()
        L = tf.keras.layers
        self.flat = L.Flatten()
        self.e1 = L.Dense(256, activation="relu")
        self.e2 = L.Dense(conf.code)
        self.d1 = L.Dense(256, activation="relu")
        self.d2 = L.Dense(conf.frames * conf.bands)
        self.back = L.Reshape((conf.frames, conf.bands))

    def call(self, x):
        code = self.e2(self.e1(self.flat(x)))
        return self.back(self.d2(self.d1(code))), code


def rss_mb():
    with open("/proc/self/statm") as fh:
        return int(fh.read().split()[1]) * resource.getpagesize() / 2**20


def main():
    conf = Conf()
    tf.random.set_seed(2)
    rng = np.random.default_rng(2)
    data = clips(1024, conf, rng)
    held = clips(128, conf, rng)
    net = PumpCoder(conf)
    opt = tf.keras.optimizers.Adam(conf.lr)
    net(data[:2])

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            y, code = net(x)
            loss = tf.reduce_mean(tf.square(y - x)) + 1e-5 * tf.reduce_mean(tf.square(code))
        opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
        return loss, y, code

    book = Journal()
    t0 = time.time()
    for s in range(conf.steps):
        x = tf.constant(data[rng.integers(0, len(data), conf.batch)])
        loss, recon, code = step(x)
        book.add(step=s, loss=float(loss))
        if s % 100 == 0:
            print(f"{s:4d} loss {float(loss):.4f}  resident {rss_mb():.0f} MB")
    print("curve", book.curve())
    out, _ = net(held)
    print("held-out mse %.4f (variance %.4f)" % (float(np.mean((out.numpy() - held) ** 2)), held.var()))
    print(f"resident at the end {rss_mb():.0f} MB, {time.time() - t0:.0f} s")


if __name__ == "__main__":
    main()
