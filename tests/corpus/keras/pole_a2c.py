"""Advantage actor-critic on a vectorised cart-pole written in numpy."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
from dataclasses import dataclass

import keras
import numpy as np
import tensorflow as tf


@dataclass
class Conf:
    envs: int = 32
    horizon: int = 16
    updates: int = 500
    gamma: float = 0.98
    lam: float = 0.95
    entropy: float = 0.01
    actor_lr: float = 2e-3
    critic_lr: float = 5e-3
    max_steps: int = 200
    seed: int = 3


class Poles:
    def __init__(self, n, max_steps, rng):
        self.n, self.max_steps, self.rng = n, max_steps, rng
        self.s = rng.uniform(-0.05, 0.05, (n, 4))
        self.t = np.zeros(n, int)
        self.finished = []

    def obs(self):
        return (self.s / np.array([2.4, 2.0, 0.21, 2.0])).astype("float32")

    def step(self, a):
        x, v, th, w = self.s.T
        force = np.where(a == 1, 10.0, -10.0)
        c, s = np.cos(th), np.sin(th)
        tmp = (force + 0.05 * w ** 2 * s) / 1.1
        acc_th = (9.8 * s - c * tmp) / (0.5 * (4 / 3 - 0.1 * c ** 2 / 1.1))
        acc = tmp - 0.05 * acc_th * c / 1.1
        dt = 0.02
        self.s = np.stack([x + dt * v, v + dt * acc, th + dt * w, w + dt * acc_th], 1)
        self.t += 1
        dead = (np.abs(self.s[:, 0]) > 2.4) | (np.abs(self.s[:, 2]) > 0.2095)
        cut = (self.t >= self.max_steps) & ~dead
        final_obs = self.obs()
        for i in np.flatnonzero(dead | cut):
            self.finished.append(int(self.t[i]))
            self.s[i] = self.rng.uniform(-0.05, 0.05, 4)
            self.t[i] = 0
        return self.obs(), final_obs, np.ones(self.n, "float32"), dead, cut


def net(out, scale):
    last = keras.layers.Dense(out, kernel_initializer=keras.initializers.Orthogonal(scale))
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(64, "tanh"),
                             keras.layers.Dense(64, "tanh"), last])


def main():
    c = Conf()
    keras.utils.set_random_seed(c.seed)
    rng = np.random.default_rng(c.seed)
    env = Poles(c.envs, c.max_steps, rng)
    actor, critic = net(2, 0.01), net(1, 1.0)
    opt_a = keras.optimizers.Adam(c.actor_lr, global_clipnorm=0.5)
    opt_c = keras.optimizers.Adam(c.critic_lr, global_clipnorm=0.5)

    @tf.function(reduce_retracing=True)
    def act(o):
        return tf.nn.softmax(actor(o)), critic(o)[:, 0]

    @tf.function
    def learn(o, a, adv, ret):
        with tf.GradientTape() as ta:
            logp = tf.nn.log_softmax(actor(o, training=True))
            chosen = tf.gather(logp, a, batch_dims=1)
            ent = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, 1))
            la = -tf.reduce_mean(chosen * adv) - c.entropy * ent
        ga = ta.gradient(la, actor.trainable_variables)
        opt_a.apply_gradients(zip(ga, actor.trainable_variables))
        with tf.GradientTape() as tc:
            lc = tf.reduce_mean(tf.square(critic(o, training=True)[:, 0] - ret))
        gc = tc.gradient(lc, critic.trainable_variables)
        opt_c.apply_gradients(zip(gc, critic.trainable_variables))
        return la, lc, ent

    o = env.obs()
    for u in range(c.updates):
        O, A, R, V, NV, D, E = [], [], [], [], [], [], []
        for _ in range(c.horizon):
            p, v = (t.numpy() for t in act(tf.constant(o)))
            a = (rng.random(c.envs) > p[:, 0]).astype("int32")
            nxt, fin, r, dead, cut = env.step(a)
            nv = act(tf.constant(fin))[1].numpy() * (1.0 - dead)
            for store, item in zip((O, A, R, V, NV, E), (o, a, r * 0.1, v, nv, dead | cut)):
                store.append(item)
            o = nxt
        adv = np.zeros((c.horizon, c.envs), "float32")
        run = np.zeros(c.envs, "float32")
        for t in reversed(range(c.horizon)):
            delta = R[t] + c.gamma * NV[t] - V[t]
            run = delta + c.gamma * c.lam * (1.0 - E[t]) * run
            adv[t] = run
        ret = adv + np.array(V)
        flat = adv.reshape(-1)
        flat = (flat - flat.mean()) / (flat.std() + 1e-8)
        la, lc, ent = learn(tf.constant(np.concatenate(O)), tf.constant(np.concatenate(A)),
                            tf.constant(flat), tf.constant(ret.reshape(-1).astype("float32")))
        if (u + 1) % 50 == 0:
            print(f"update {u+1:4d} actor {la:+.4f} critic {lc:.4f} entropy {ent:.3f} "
                  f"mean length of last 64 episodes {np.mean(env.finished[-64:]):.1f}")

    test = Poles(16, c.max_steps, np.random.default_rng(99))
    o = test.obs()
    while len(test.finished) < 32:
        o = test.step(act(tf.constant(o))[0].numpy().argmax(1))[0]
    print("greedy episode length", np.mean(test.finished))


if __name__ == "__main__":
    main()
