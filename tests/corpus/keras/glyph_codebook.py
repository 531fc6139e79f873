"""Discrete codes for small glyph images."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

SIDE, CODES, WIDTH = 16, 32, 8


def glyphs(n, rng):
    imgs = np.zeros((n, SIDE, SIDE, 1), "float32")
    for k in range(n):
        for _ in range(3):
            kind = rng.integers(3)
            a, b = rng.integers(1, 9, 2)
            ln = rng.integers(4, 8)
            if kind == 0:
                imgs[k, a, b:b + ln] = 1
            elif kind == 1:
                imgs[k, a:a + ln, b] = 1
            else:
                for j in range(ln):
                    imgs[k, a + j, b + j] = 1
    return imgs


def make_encoder():
    return keras.Sequential([
        layers.Input((SIDE, SIDE, 1)),
        layers.Conv2D(24, 4, strides=2, padding="same", activation="relu"),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.Conv2D(WIDTH, 1),
    ])


def make_decoder():
    return keras.Sequential([
        layers.Input((SIDE // 2, SIDE // 2, WIDTH)),
        layers.Conv2D(24, 1, activation="relu"),
        layers.Conv2DTranspose(1, 2, strides=2, padding="same"),
    ])


class CodeModel:
    def __init__(self):
        self.enc, self.dec = make_encoder(), make_decoder()
        self.book = tf.Variable(tf.random.normal((CODES, WIDTH), stddev=0.3, seed=1))
        self.opt = keras.optimizers.Adam(2e-3)

    def variables(self):
        return self.enc.trainable_variables + self.dec.trainable_variables + [self.book]

    def quantise(self, z):
        flat = tf.reshape(z, (-1, WIDTH))
        dist = (tf.reduce_sum(flat ** 2, 1, keepdims=True) - 2 * flat @ tf.transpose(self.book)
                + tf.reduce_sum(self.book ** 2, 1))
        idx = tf.argmin(dist, 1)
        q = tf.reshape(tf.gather(self.book, idx), tf.shape(z))
        return q, idx

    def forward(self, x):
        z = self.enc(x)
        q, idx = self.quantise(z)
        codebook = tf.reduce_mean(tf.square(q - tf.stop_gradient(z)))
        commit = tf.reduce_mean(tf.square(tf.stop_gradient(q) - z))
        zq = z + tf.stop_gradient(q) - z
        logits = self.dec(zq)
        rec = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits))
        return rec, codebook + 0.25 * commit, idx, logits

    @tf.function
    def step(self, x):
        with tf.GradientTape() as tape:
            rec, vq, idx, _ = self.forward(x)
            loss = rec + 0.2 * vq
        vs = self.variables()
        self.opt.apply_gradients(zip(tape.gradient(loss, vs), vs))
        return rec


def main():
    keras.utils.set_random_seed(9)
    rng = np.random.default_rng(9)
    train, test = glyphs(2000, rng), glyphs(300, rng)
    model = CodeModel()
    for epoch in range(25):
        order = rng.permutation(len(train))
        rec = [float(model.step(tf.constant(train[order[i:i + 50]]))) for i in range(0, len(train), 50)]
        if epoch % 4 == 0:
            r, _, idx, logits = model.forward(tf.constant(test))
            on = logits.numpy() > 0
            iou = (on & (test > 0)).sum() / (on | (test > 0)).sum()
            print(f"epoch {epoch:2d} train {np.mean(rec):.4f} test {float(r):.4f} "
                  f"iou {iou:.3f} codes used {len(np.unique(idx))}")


main()
