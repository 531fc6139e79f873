"""Digits with ten labels per class and the rest unlabelled: mean teacher with a ramped consistency term."""
import argparse

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def load(per_class, seed):
    d = load_digits()
    x = (d.images / 16.0).astype("float32")[..., None]
    x_tr, x_te, y_tr, y_te = train_test_split(x, d.target, test_size=500, stratify=d.target, random_state=seed)
    rng = np.random.default_rng(seed)
    picked = np.concatenate([rng.choice(np.flatnonzero(y_tr == c), per_class, replace=False) for c in range(10)])
    return x_tr, x_tr[picked], y_tr[picked], x_te, y_te


def conv_net():
    inp = keras.Input((8, 8, 1))
    x = layers.Conv2D(32, 3, padding="same", activation="relu")(inp)
    x = layers.Conv2D(32, 3, padding="same", activation="relu")(x)
    x = layers.MaxPooling2D()(x)
    x = layers.Conv2D(64, 3, padding="same", activation="relu")(x)
    x = layers.Flatten()(x)
    x = layers.Dropout(0.3)(x)
    return keras.Model(inp, layers.Dense(10)(x))


def jitter(x):
    """Moves every picture by up to one pixel and adds grain."""
    n = tf.shape(x)[0]
    x = tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]])
    corner = tf.random.uniform((n, 2), 0, 3, dtype=tf.int32)
    rows = corner[:, :1] + tf.range(8)[None]
    cols = corner[:, 1:] + tf.range(8)[None]
    grid = tf.stack([tf.repeat(rows[:, :, None], 8, 2), tf.repeat(cols[:, None, :], 8, 1)], -1)
    return tf.gather_nd(x, grid, batch_dims=1) + tf.random.normal((n, 8, 8, 1), stddev=0.1)


class MeanTeacher:
    def __init__(self, lr, top_weight, ramp, decay):
        self.student, self.teacher = conv_net(), conv_net()
        self.teacher.set_weights(self.student.get_weights())
        self.teacher.trainable = False
        self.opt = keras.optimizers.Nadam(lr, global_clipnorm=2.0)
        self.top_weight, self.ramp, self.decay = top_weight, ramp, decay

    @tf.function
    def step(self, x_lab, y_lab, x_all, weight, decay):
        target = tf.nn.softmax(self.teacher(jitter(x_all), training=False))
        n_lab = tf.shape(x_lab)[0]
        with tf.GradientTape() as tape:
            logits = self.student(tf.concat([jitter(x_lab), jitter(x_all)], 0), training=True)
            sup = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y_lab, logits[:n_lab]))
            gap = tf.reduce_mean(tf.reduce_sum((tf.nn.softmax(logits[n_lab:]) - target) ** 2, -1))
            loss = sup + weight * gap
        grads = tape.gradient(loss, self.student.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.student.trainable_variables))
        for t, s in zip(self.teacher.variables, self.student.variables):
            if t.dtype == "float32":
                t.assign(decay * t + (1.0 - decay) * s)
        return sup, gap

    def train(self, x_all, x_lab, y_lab, steps, report):
        lab = tf.data.Dataset.from_tensor_slices((x_lab, y_lab.astype("int32"))).shuffle(200).repeat().batch(25)
        free = tf.data.Dataset.from_tensor_slices(x_all).shuffle(2000).repeat().batch(75)
        for i, ((xl, yl), xa) in enumerate(zip(lab.take(steps), free)):
            r = min(1.0, i / self.ramp)
            weight = self.top_weight * np.exp(-5 * (1 - r) ** 2)
            decay = min(self.decay, 1 - 1 / (i + 1))
            sup, gap = self.step(xl, yl, xa, tf.constant(weight, tf.float32), tf.constant(decay, tf.float32))
            if (i + 1) % 100 == 0:
                print(f"step {i + 1} labelled {float(sup):.3f} gap {float(gap):.4f} weight {weight:.2f} {report()}")


def accuracy(net, x, y):
    return float((net(x, training=False).numpy().argmax(-1) == y).mean())


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--per-class", type=int, default=10)
    p.add_argument("--steps", type=int, default=800)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--weight", type=float, default=8.0)
    a = p.parse_args()
    keras.utils.set_random_seed(13)
    x_all, x_lab, y_lab, x_te, y_te = load(a.per_class, 13)
    print("labelled", len(x_lab), "of", len(x_all))
    mt = MeanTeacher(a.lr, a.weight, ramp=a.steps // 2, decay=0.98)
    mt.train(x_all, x_lab, y_lab, a.steps,
             lambda: f"student {accuracy(mt.student, x_te, y_te):.3f} teacher {accuracy(mt.teacher, x_te, y_te):.3f}")
    near = y_lab[((x_te.reshape(-1, 1, 64) - x_lab.reshape(1, -1, 64)) ** 2).sum(-1).argmin(1)]
    print(f"held-out teacher accuracy {accuracy(mt.teacher, x_te, y_te):.3f} (nearest labelled neighbour {np.mean(near == y_te):.3f})")


if __name__ == "__main__":
    main()
