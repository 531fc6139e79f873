"""Q-learning with a replay buffer and a slow target net in a small windy corridor."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
from collections import deque
import random
import numpy as np
import tensorflow as tf
import keras

random.seed(0)
np.random.seed(0)
keras.utils.set_random_seed(0)
L, GAMMA, BATCH, EPISODES = 9, 0.95, 64, 140


class Corridor:
    def reset(self):
        self.p, self.t = 0, 0
        return self.obs()

    def obs(self):
        return np.eye(L, dtype="float32")[self.p]

    def step(self, a):
        self.t += 1
        move = 1 if a == 1 else -1
        if random.random() < 0.1:
            move = -move
        self.p = min(max(self.p + move, 0), L - 1)
        goal = self.p == L - 1
        return self.obs(), (1.0 if goal else -0.01), goal, goal or self.t >= 40


def qnet():
    return keras.Sequential([keras.Input((L,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)])


q, target = qnet(), qnet()
target.trainable = False
target.set_weights(q.get_weights())
opt = keras.optimizers.Adam(2e-3)
huber = keras.losses.Huber()
buf = deque(maxlen=5000)


@tf.function(reduce_retracing=True)
def learn(s, a, r, s2, end):
    best = tf.reduce_max(target(s2), axis=1)
    goal = r + GAMMA * best * (1.0 - end)
    with tf.GradientTape() as tape:
        picked = tf.reduce_sum(q(s) * tf.one_hot(a, 2), axis=1)
        loss = huber(goal, picked)
    grads = tape.gradient(loss, q.trainable_variables)
    opt.apply_gradients(zip(grads, q.trainable_variables))
    return loss


@tf.function
def greedy(s):
    return tf.argmax(q(s), axis=1)[0]


env, steps, returns = Corridor(), 0, []
for ep in range(EPISODES):
    s, total, losses = env.reset(), 0.0, []
    eps = max(0.05, 1.0 - ep / 80)
    while True:
        a = random.randrange(2) if random.random() < eps else int(greedy(tf.constant(s[None])))
        s2, r, terminal, done = env.step(a)
        buf.append((s, a, r, s2, float(terminal)))
        s, total, steps = s2, total + r, steps + 1
        if len(buf) >= 200:
            bs, ba, br, b2, be = map(np.array, zip(*random.sample(buf, BATCH)))
            losses.append(learn(tf.constant(bs), tf.constant(ba, tf.int32), tf.constant(br, tf.float32),
                                tf.constant(b2), tf.constant(be, tf.float32)))
        if steps % 150 == 0:
            target.set_weights(q.get_weights())
        if done:
            break
    returns.append(total)
    if ep % 20 == 19:
        print(f"episode {ep + 1} mean return {np.mean(returns[-20:]):.3f} eps {eps:.2f} "
              f"loss {float(tf.reduce_mean(losses)) if losses else float('nan'):.4f}")
print("policy", q(np.eye(L, dtype="float32")).numpy().argmax(1)[:-1])
