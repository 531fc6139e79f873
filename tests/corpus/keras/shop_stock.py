"""Reorder policy for a small shop by Q-learning on a never-ending stock process.

The shop never closes: the simulator cuts the record every 50 days only to restart from random
stock for exploration, and the future beyond a cut is worth as much as any other future."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf

MAX_STOCK, ORDERS = 20, np.array([0, 4, 8, 12])
GAMMA, TAU = 0.95, 0.01
SHOPS, DAYS, CUT, BATCH = 32, 1800, 50, 256


class Shops:
    def __init__(self, n, seed, cut=CUT):
        self.rng, self.n, self.cut, self.day = np.random.default_rng(seed), n, cut, 0
        self.stock = self.rng.integers(0, MAX_STOCK + 1, n)
        self.weekday = self.rng.integers(0, 7, n)

    def observe(self):
        angle = 2 * np.pi * self.weekday / 7
        return np.stack([self.stock / 10 - 1, np.cos(angle), np.sin(angle),
                         (self.weekday >= 5).astype(float)], 1).astype("float32")

    def step(self, action):
        order = ORDERS[action]
        on_hand = np.minimum(self.stock + order, MAX_STOCK)
        wanted = self.rng.poisson(np.where(self.weekday >= 5, 6.0, 2.5))
        sold = np.minimum(on_hand, wanted)
        profit = 3.0 * sold - 1.0 * (wanted - sold) - 0.25 * on_hand - 4.0 * (order > 0) - 1.0 * order
        self.stock = on_hand - sold
        self.weekday = (self.weekday + 1) % 7
        after = self.observe()
        self.day += 1
        if self.cut and self.day % self.cut == 0:
            self.stock = self.rng.integers(0, MAX_STOCK + 1, self.n)
            self.weekday = self.rng.integers(0, 7, self.n)
        return profit.astype("float32"), after


def dueling():
    x = keras.Input((4,))
    h = keras.layers.Dense(64, activation="relu")(x)
    h = keras.layers.Dense(64, activation="relu")(h)
    value = keras.layers.Dense(1)(h)
    adv = keras.layers.Dense(len(ORDERS), use_bias=False)(h)
    q = keras.layers.Lambda(lambda va: va[0] + va[1] - keras.ops.mean(va[1], -1, keepdims=True))([value, adv])
    return keras.Model(x, q)


def average_profit(policy, seed, days=300, n=64):
    env, total = Shops(n, seed, cut=None), 0.0
    for _ in range(days):
        r, _ = env.step(policy(env))
        total += r.mean()
    return total / days


def main():
    keras.utils.set_random_seed(14)
    rng = np.random.default_rng(14)
    net, slow = dueling(), dueling()
    slow.set_weights(net.get_weights())
    opt = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(2e-3, DAYS, alpha=0.05))
    q_values = tf.function(lambda s: net(s))

    @tf.function
    def learn(s, a, r, s2):
        goal = r + GAMMA * tf.reduce_max(slow(s2), axis=1)
        with tf.GradientTape() as tape:
            q = tf.gather(net(s), a, batch_dims=1)
            loss = tf.reduce_mean(tf.square(goal - q))
        opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
        for v, w in zip(slow.variables, net.variables):
            v.assign((1 - TAU) * v + TAU * w)
        return loss

    greedy = lambda env: q_values(tf.constant(env.observe())).numpy().argmax(1)
    env = Shops(SHOPS, 1)
    store, slots = [], SHOPS * DAYS
    s_buf, s2_buf = np.zeros((slots, 4), "float32"), np.zeros((slots, 4), "float32")
    a_buf, r_buf, filled = np.zeros(slots, "int32"), np.zeros(slots, "float32"), 0
    for day in range(1, DAYS + 1):
        s = env.observe()
        eps = max(0.1, 1 - day / 600)
        a = np.where(rng.random(SHOPS) < eps, rng.integers(0, len(ORDERS), SHOPS), greedy(env))
        r, s2 = env.step(a)
        rows = slice(filled, filled + SHOPS)
        s_buf[rows], a_buf[rows], r_buf[rows], s2_buf[rows] = s, a, r / 10.0, s2
        filled += SHOPS
        if filled >= 2000:
            pick = rng.integers(0, filled, BATCH)
            store.append(float(learn(s_buf[pick], a_buf[pick], r_buf[pick], s2_buf[pick])))
        if day % 450 == 0:
            print(f"day {day:5d}  td loss {np.mean(store[-100:]):.4f}  "
                  f"profit per day {average_profit(greedy, 70, days=100):.3f}")

    ruled = {k: average_profit(lambda e: np.where(e.stock <= k, 2, 0), 99) for k in (2, 4, 6)}
    chance = average_profit(lambda e: rng.integers(0, len(ORDERS), e.n), 99)
    print(f"learned policy {average_profit(greedy, 99):.3f} per day   random orders {chance:.3f}   "
          f"best fixed reorder point {max(ruled.values()):.3f}")


if __name__ == "__main__":
    main()
