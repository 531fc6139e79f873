"""Learn from logged random crossings where a ferry should go: a small Q-learner."""
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
import keras


@dataclass
class Config:
    length: int = 14
    gamma: float = 0.93
    lr: float = 3e-3
    steps: int = 3000
    batch: int = 128
    sync_every: int = 10_000
    seed: int = 2


class River:
    """Piers 0..L-1. Small fare at pier 0, large fare at the far pier."""

    def __init__(self, length):
        self.L = length

    def move(self, s, a):
        s2 = s + (1 if a == 1 else -1)
        if s2 <= 0:
            return 0, 1.0, True
        if s2 >= self.L - 1:
            return self.L - 1, 10.0, True
        return s2, -0.01, False


def collect(env, n, rng):
    rows = []
    while len(rows) < n:
        s = int(rng.integers(1, env.L - 1))
        for _ in range(30):
            a = int(rng.integers(2))
            s2, r, done = env.move(s, a)
            rows.append((s, a, r, s2, done))
            if done:
                break
            s = s2
    s, a, r, s2, d = map(np.array, zip(*rows))
    return s, a, r.astype("float32"), s2, d.astype("float32")


def make_q(cfg):
    return keras.Sequential([
        keras.Input((cfg.length,)),
        keras.layers.Dense(48, activation="relu"),
        keras.layers.Dense(2),
    ])


class Learner:
    def __init__(self, cfg):
        self.cfg = cfg
        self.online, self.target = make_q(cfg), make_q(cfg)
        self.target.set_weights(self.online.get_weights())
        self.opt = keras.optimizers.Adam(cfg.lr)

    @tf.function(reduce_retracing=True)
    def update(self, s, a, r, s2, done):
        q_next = tf.reduce_max(self.target(tf.one_hot(s2, self.cfg.length)), axis=1)
        goal = tf.stop_gradient(r + self.cfg.gamma * (1.0 - done) * q_next)
        with tf.GradientTape() as tape:
            q = self.online(tf.one_hot(s, self.cfg.length))
            picked = tf.reduce_sum(q * tf.one_hot(a, 2), axis=1)
            loss = tf.reduce_mean(tf.square(picked - goal))
        v = self.online.trainable_variables
        self.opt.apply_gradients(zip(tape.gradient(loss, v), v))
        return loss


def greedy_return(learner, env, cfg):
    total = []
    for start in range(1, cfg.length - 1):
        s, g, disc = start, 0.0, 1.0
        for _ in range(2 * cfg.length):
            q = learner.online(tf.one_hot([s], cfg.length))
            s, r, done = env.move(s, int(tf.argmax(q[0])))
            g += disc * r
            disc *= cfg.gamma
            if done:
                break
        total.append(g)
    return float(np.mean(total))


def main():
    cfg = Config()
    keras.utils.set_random_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    env = River(cfg.length)
    s, a, r, s2, d = collect(env, 8000, rng)
    learner = Learner(cfg)
    for step in range(1, cfg.steps + 1):
        i = rng.integers(len(s), size=cfg.batch)
        loss = learner.update(s[i], a[i], r[i], s2[i], d[i])
        if step % cfg.sync_every == 0:
            learner.target.set_weights(learner.online.get_weights())
        if step % 500 == 0:
            print(f"step {step} td loss {float(loss):.4f} greedy return {greedy_return(learner, env, cfg):.3f}")


if __name__ == "__main__":
    main()
