"""Learn the forward kinematics of a three-joint planar arm with a hand-written MLP.

Input: joint angles (radians). Output: x, y of the gripper. Written on bare tf.Module
so that the exported graph has no Keras dependency.
"""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import time
import numpy as np
import tensorflow as tf

LINKS = (1.0, 0.7, 0.4)
SEED = 21


def make_arm_data(n, rng):
    q = rng.uniform(-np.pi / 2, np.pi / 2, size=(n, 3))
    angle = np.cumsum(q, axis=1)
    pos = np.stack([(np.cos(angle) * LINKS).sum(1), (np.sin(angle) * LINKS).sum(1)], 1)
    pos += rng.normal(0, 0.01, pos.shape)          # encoder noise
    return q.astype(np.float32), pos.astype(np.float32)


class Affine(tf.Module):
    def __init__(self, n_in, n_out, activation=None, name=None):
        super().__init__(name=name)
        self.w = tf.Variable(tf.fill([n_in, n_out], 1.0 / n_in), name="w")
        self.b = tf.Variable(tf.zeros([n_out]), name="b")
        self.activation = activation or tf.identity

    def __call__(self, x):
        return self.activation(tf.matmul(x, self.w) + self.b)


class ArmNet(tf.Module):
    def __init__(self, hidden=64):
        super().__init__(name="arm_net")
        self.fc1 = Affine(3, hidden, tf.tanh, name="fc1")
        self.fc2 = Affine(hidden, hidden, tf.tanh, name="fc2")
        self.out = Affine(hidden, 2, name="out")

    def __call__(self, q):
        return self.out(self.fc2(self.fc1(q)))


class Adam:
    """Plain Adam, kept here for the same reason as the layers above."""

    def __init__(self, variables, lr, b1=0.9, b2=0.999, eps=1e-8):
        self.variables, self.lr, self.b1, self.b2, self.eps = variables, lr, b1, b2, eps
        self.m = [tf.Variable(tf.zeros_like(v)) for v in variables]
        self.v = [tf.Variable(tf.zeros_like(v)) for v in variables]
        self.t = tf.Variable(0.0)

    def step(self, grads, scale):
        self.t.assign_add(1.0)
        corr = tf.sqrt(1 - self.b2 ** self.t) / (1 - self.b1 ** self.t)
        for var, g, m, v in zip(self.variables, grads, self.m, self.v):
            m.assign(self.b1 * m + (1 - self.b1) * g)
            v.assign(self.b2 * v + (1 - self.b2) * tf.square(g))
            var.assign_sub(self.lr * scale * corr * m / (tf.sqrt(v) + self.eps))


def main(epochs=30, batch=128):
    tf.random.set_seed(SEED)
    rng = np.random.default_rng(SEED)
    q_train, p_train = make_arm_data(8000, rng)
    q_test, p_test = make_arm_data(2000, rng)

    net = ArmNet()
    variables = list(net.trainable_variables)
    print("parameters:", sum(int(tf.size(v)) for v in variables))
    opt = Adam(variables, lr=3e-3)

    @tf.function
    def train_step(q, p, scale):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.reduce_sum(tf.square(net(q) - p), axis=1))
        opt.step(tape.gradient(loss, variables), scale)
        return loss

    data = (tf.data.Dataset.from_tensor_slices((q_train, p_train))
            .shuffle(len(q_train), seed=SEED)
            .batch(batch, drop_remainder=True)
            .prefetch(2))
    start = time.time()
    for epoch in range(epochs):
        scale = tf.constant(0.5 * (1 + np.cos(np.pi * epoch / epochs)), tf.float32)
        losses = [train_step(q, p, scale) for q, p in data]
        if (epoch + 1) % 5 == 0:
            print(f"epoch {epoch + 1:3d}  train mse {float(tf.reduce_mean(losses)):.5f}"
                  f"  {time.time() - start:.1f}s")

    error = np.linalg.norm(net(tf.constant(q_test)).numpy() - p_test, axis=1)
    base = np.linalg.norm(p_train.mean(0) - p_test, axis=1)
    print(f"gripper error on test poses: mean {error.mean():.4f} m, p95 {np.quantile(error, .95):.4f} m")
    print(f"mean-position baseline: {base.mean():.4f} m")
    os.makedirs("out", exist_ok=True)
    np.savez("out/arm_net.npz", *[v.numpy() for v in variables])


if __name__ == "__main__":
    main()
