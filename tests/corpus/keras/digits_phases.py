"""Digits in three phases with one custom trainer. Settings reach the compiled step in three ways:
as tf.Variable (temperature), as argument (sigma) and as a plain attribute that costs a new trace."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

TRACES = []          # filled while tracing, i.e. once per compiled graph
SEEN = 0             # rows fed so far; only touched outside the graph


class Trainer:
    def __init__(self):
        self.body = keras.Sequential([keras.Input((8, 8, 1)),
                                      keras.layers.Conv2D(24, 3, padding="same", activation="relu"),
                                      keras.layers.MaxPooling2D(),
                                      keras.layers.Conv2D(48, 3, padding="same", activation="relu"),
                                      keras.layers.Flatten()])
        self.head = keras.layers.Dense(10)
        self.head.build((None, 4 * 4 * 48))
        self.opt = keras.optimizers.Adam(2e-3)
        self.opt.build(self.body.trainable_variables + self.head.trainable_variables)
        self.temp = tf.Variable(2.0, trainable=False)
        self.best = 0.0
        self.set_phase("all", 0.1)

    def set_phase(self, phase, smoothing):
        self.phase, self.smoothing = phase, smoothing
        self.step = tf.function(self._step)       # a new graph, the attributes above are baked in anew

    def logits(self, x):
        return self.head(self.body(x))

    def _step(self, x, y, sigma):
        TRACES.append((self.phase, self.smoothing))
        x = x + sigma * tf.random.normal(tf.shape(x))
        target = tf.one_hot(y, 10) * (1 - self.smoothing) + self.smoothing / 10
        with tf.GradientTape() as tape:
            z = self.logits(x) / self.temp
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(target, z))
        var = self.body.trainable_variables + self.head.trainable_variables
        grads = tape.gradient(loss, var)
        if self.phase == "head":                  # the body rests: zero gradients would still move Adam
            self._head_sgd(grads[-2:])
        else:
            self.opt.apply_gradients(zip(grads, var))
        return loss

    def _head_sgd(self, grads):
        for g, v in zip(grads, self.head.trainable_variables):
            v.assign_sub(0.02 * g)

    def run(self, x, y, epochs, rng, temps, sigma):
        global SEEN
        for e in range(epochs):
            self.temp.assign(temps[min(e, len(temps) - 1)])
            order, losses = rng.permutation(len(x)), []
            for k in range(0, len(x) - 31, 32):
                i = order[k:k + 32]
                losses.append(float(self.step(tf.constant(x[i]), tf.constant(y[i]), tf.constant(sigma, tf.float32))))
                SEEN += len(i)
            sigma *= 0.8
            print(f"{self.phase:5s} epoch {e} rows {SEEN:6d} temp {float(self.temp):.2f} loss {np.mean(losses):.4f}")


def accuracy(tr, x, y):
    return float((tr.logits(x).numpy().argmax(1) == y).mean())


def main():
    keras.utils.set_random_seed(8)
    rng = np.random.default_rng(8)
    d = load_digits()
    x, y = (d.images[..., None] / 16).astype("float32"), d.target.astype("int32")
    p = rng.permutation(len(x))
    tr_i, te_i = p[:1000], p[1000:]
    t = Trainer()
    t.run(x[tr_i], y[tr_i], 6, rng, [2.0, 1.6, 1.3, 1.0], 0.3)
    a1 = accuracy(t, x[te_i], y[te_i])
    t.set_phase("head", 0.1)
    before = [v.numpy().copy() for v in t.body.trainable_variables]
    t.run(x[tr_i], y[tr_i], 2, rng, [1.0], 0.1)
    still = all(np.array_equal(b, v.numpy()) for b, v in zip(before, t.body.trainable_variables))
    a2 = accuracy(t, x[te_i], y[te_i])
    t.set_phase("all", 0.0)
    t.run(x[tr_i], y[tr_i], 3, rng, [1.0], 0.05)
    a3 = accuracy(t, x[te_i], y[te_i])
    print("graphs built:", TRACES, "body untouched in phase two:", still)
    print(f"test accuracy after each phase {a1:.3f} {a2:.3f} {a3:.3f}  majority {np.bincount(y[te_i]).max() / len(te_i):.3f}")


if __name__ == "__main__":
    main()
