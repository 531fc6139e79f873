from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


@dataclass
class Setup:
    hidden: int = 128
    classes: int = 10
    lr: float = 1e-3
    epochs: int = 12
    batch: int = 32
    clip: float = 1.0
    seed: int = 9


def matrix(n_in, n_out, name):
    return tf.Variable(tf.random.normal([n_in, n_out]), name=name)


class RowReader(tf.Module):
    def __init__(self, width, cfg):
        super().__init__()
        self.w_in = matrix(width, cfg.hidden, "w_in")
        self.w_rec = matrix(cfg.hidden, cfg.hidden, "w_rec")
        self.b = tf.Variable(tf.zeros([cfg.hidden]), name="b")
        self.w_out = matrix(cfg.hidden, cfg.classes, "w_out")
        self.b_out = tf.Variable(tf.zeros([cfg.classes]), name="b_out")

    def __call__(self, rows):
        h = tf.zeros([tf.shape(rows)[0], self.b.shape[0]])
        for t in range(rows.shape[1]):
            h = tf.tanh(rows[:, t] @ self.w_in + h @ self.w_rec + self.b)
        return h @ self.w_out + self.b_out


class AdamState:
    def __init__(self, variables, lr):
        self.variables = variables
        self.lr = lr
        self.m = [tf.Variable(tf.zeros_like(v)) for v in variables]
        self.v = [tf.Variable(tf.zeros_like(v)) for v in variables]
        self.t = tf.Variable(0.0)

    def apply(self, grads):
        self.t.assign_add(1.0)
        scale = self.lr * tf.sqrt(1 - 0.999 ** self.t) / (1 - 0.9 ** self.t)
        for var, g, m, v in zip(self.variables, grads, self.m, self.v):
            m.assign(0.9 * m + 0.1 * g)
            v.assign(0.999 * v + 0.001 * g * g)
            var.assign_sub(scale * m / (tf.sqrt(v) + 1e-7))


def load(seed):
    data = load_digits()
    x = (data.images.astype("float32") - 8.0) / 8.0
    return train_test_split(x, data.target.astype("int32"), test_size=0.3, stratify=data.target, random_state=seed)


def main():
    cfg = Setup()
    tf.random.set_seed(cfg.seed)
    x_train, x_test, y_train, y_test = load(cfg.seed)
    net = RowReader(x_train.shape[2], cfg)
    opt = AdamState(net.trainable_variables, cfg.lr)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=net(x)))
        grads, _ = tf.clip_by_global_norm(tape.gradient(loss, opt.variables), cfg.clip)
        opt.apply(grads)
        return loss

    feed = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(2000, seed=cfg.seed).batch(cfg.batch)
    for epoch in range(cfg.epochs):
        losses = [float(step(x, y)) for x, y in feed]
        if epoch == 0:
            print(f"first batch loss {losses[0]:.2f}")
        print(f"epoch {epoch + 1:2d} loss {np.mean(losses):.4f}")

    logits = net(tf.constant(x_test)).numpy()
    print(f"test accuracy {np.mean(logits.argmax(1) == y_test):.3f}  chance {1 / cfg.classes:.3f}")


if __name__ == "__main__":
    main()
