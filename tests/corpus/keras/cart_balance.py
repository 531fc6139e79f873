"""DQN for pole balancing on sixteen carts in parallel (numpy simulator, TF learner)."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf

N_ENVS, HORIZON = 16, 200
GAMMA, BATCH, LR = 0.98, 256, 1e-3
STEPS, WARMUP, CAPACITY = 2800, 100, 50000
TARGET_EVERY = 50


class Carts:
    """The classic cart-pole equations for n independent carts with automatic reset."""

    def __init__(self, n, seed):
        self.n, self.rng = n, np.random.default_rng(seed)
        self.state = self._fresh(n)
        self.t = np.zeros(n, int)

    def _fresh(self, k):
        return self.rng.uniform(-0.05, 0.05, (k, 4)).astype("float32")

    def step(self, action):
        x, v, th, w = self.state.T
        force = np.where(action == 1, 10.0, -10.0)
        tmp = (force + 0.05 * w ** 2 * np.sin(th)) / 1.1
        th_acc = (9.8 * np.sin(th) - np.cos(th) * tmp) / (0.5 * (4 / 3 - 0.1 * np.cos(th) ** 2 / 1.1))
        x_acc = tmp - 0.05 * th_acc * np.cos(th) / 1.1
        nxt = np.stack([x + 0.02 * v, v + 0.02 * x_acc, th + 0.02 * w, w + 0.02 * th_acc], 1)
        nxt = nxt.astype("float32")
        self.t += 1
        fell = (np.abs(nxt[:, 0]) > 2.4) | (np.abs(nxt[:, 2]) > 0.2095)
        over = fell | (self.t >= HORIZON)
        self.state = nxt.copy()
        self.state[over] = self._fresh(int(over.sum()))
        self.t[over] = 0
        return nxt, np.ones(self.n, "float32"), fell.astype("float32"), over


class Replay:
    def __init__(self, capacity, seed):
        self.rng = np.random.default_rng(seed)
        self.capacity, self.size, self.pos = capacity, 0, 0
        self.data = [np.zeros((capacity, 4), "float32"), np.zeros(capacity, "int32"),
                     np.zeros(capacity, "float32"), np.zeros((capacity, 4), "float32"),
                     np.zeros(capacity, "float32")]

    def add(self, *rows):
        idx = (self.pos + np.arange(len(rows[1]))) % self.capacity
        for store, row in zip(self.data, rows):
            store[idx] = row
        self.pos = int((self.pos + len(idx)) % self.capacity)
        self.size = min(self.size + len(idx), self.capacity)

    def sample(self, k):
        idx = self.rng.integers(0, self.size, k)
        return [tf.constant(store[idx]) for store in self.data]


def q_network():
    return keras.Sequential([keras.Input((4,)),
                             keras.layers.Dense(64, activation="relu"),
                             keras.layers.Dense(64, activation="relu"),
                             keras.layers.Dense(2)])


keras.utils.set_random_seed(9)
rng = np.random.default_rng(9)
online, target = q_network(), q_network()
target.set_weights(online.get_weights())
opt = keras.optimizers.Adam(
    keras.optimizers.schedules.PolynomialDecay(LR, 2 * STEPS, 2e-5), clipnorm=5.0)
huber = keras.losses.Huber()
values = tf.function(lambda s: online(s))


@tf.function
def learn(s, a, r, s2, done):
    best = tf.argmax(online(s2), axis=1)                     # double DQN
    q_next = tf.gather(target(s2), best, batch_dims=1)
    goal = r + GAMMA * q_next
    with tf.GradientTape() as tape:
        q = tf.gather(online(s), a, batch_dims=1)
        loss = huber(goal, q)
    opt.apply_gradients(zip(tape.gradient(loss, online.trainable_variables),
                            online.trainable_variables))
    return loss, tf.reduce_mean(q)


def evaluate(seed, n=64):
    env, total, alive = Carts(n, seed), np.zeros(n), np.ones(n, bool)
    for _ in range(HORIZON):
        _, r, _, over = env.step(values(tf.constant(env.state)).numpy().argmax(1))
        total += r * alive
        alive &= ~over
        if not alive.any():
            break
    return total.mean()


env, memory = Carts(N_ENVS, 1), Replay(CAPACITY, 2)
for step in range(1, STEPS + 1):
    eps = max(0.1, 1.0 - step / 800)
    obs = env.state.copy()
    greedy = values(tf.constant(obs)).numpy().argmax(1)
    action = np.where(rng.random(N_ENVS) < eps, rng.integers(0, 2, N_ENVS), greedy)
    nxt, reward, fell, _ = env.step(action)
    memory.add(obs, action, reward, nxt, fell)
    if step > WARMUP:
        for _ in range(2):
            loss, mean_q = learn(*memory.sample(BATCH))
    if step % TARGET_EVERY == 0:
        target.set_weights(online.get_weights())
    if step % 400 == 0:
        print(f"step {step:5d}  loss {float(loss):.4f}  mean q {float(mean_q):8.2f}  "
              f"return {evaluate(100):6.1f}")

print(f"greedy return over 64 fresh episodes {evaluate(777):.1f}  (max {HORIZON}, random policy about 22)")
