"""Double DQN on a windy grid with a frozen target copy and sparse reward."""
import collections
import random
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(14)
ROWS, COLS, GOAL, START = 5, 8, (2, 7), (2, 0)
WIND = [0, 0, 0, 1, 1, 1, 0, 0]
MOVES = [(-1, 0), (1, 0), (0, -1), (0, 1)]
GAMMA, MAX_T = 0.95, 40


class WindyGrid:
    def reset(self, start=None):
        self.pos, self.t = start or START, 0
        return self.obs()

    def obs(self):
        o = np.zeros(ROWS + COLS, "float32")
        o[self.pos[0]] = o[ROWS + self.pos[1]] = 1.0
        return o

    def step(self, a):
        r, c = self.pos
        lift = WIND[c] if random.random() < 0.9 else 0
        self.pos = (min(max(r + MOVES[a][0] - lift, 0), ROWS - 1), min(max(c + MOVES[a][1], 0), COLS - 1))
        self.t += 1
        won = self.pos == GOAL
        return self.obs(), float(won), won, won or self.t >= MAX_T


def q_net(name):
    return keras.Sequential([keras.Input((ROWS + COLS,)), layers.Dense(64, activation="relu"),
                             layers.Dense(64, activation="relu"), layers.Dense(4)], name=name)


online, target = q_net("online"), q_net("target")
target.set_weights(online.get_weights())
target.trainable = False
opt = keras.optimizers.RMSprop(1e-3)


@tf.function
def learn(s, a, r, s2, ended):
    best = tf.argmax(online(s2), axis=1)
    boot = tf.gather(target(s2), best, batch_dims=1)
    goal = tf.stop_gradient(r + GAMMA * (1.0 - ended) * boot)
    with tf.GradientTape() as tape:
        q = tf.gather(online(s, training=True), a, batch_dims=1)
        loss = tf.reduce_mean(keras.losses.huber(goal[:, None], q[:, None]))
    opt.apply_gradients(zip(tape.gradient(loss, online.trainable_variables), online.trainable_variables))
    return loss


@tf.function
def values(s):
    return online(s)


def play(env, policy, episodes):
    wins, ret = 0, 0.0
    for _ in range(episodes):
        s, over = env.reset(), False
        while not over:
            s, r, won, over = env.step(policy(s))
        wins += won
        ret += GAMMA ** env.t * won
    return wins / episodes, ret / episodes


env, memory, updates = WindyGrid(), collections.deque(maxlen=6000), 0
opt.build(online.trainable_variables)
for ep in range(1, 181):
    eps = max(0.08, 1.0 - ep / 90)
    # exploring starts for the first part
    start = (random.randrange(ROWS), random.randrange(COLS - 1)) if ep < 100 else None
    s, over, losses = env.reset(start), False, []
    while not over:
        a = random.randrange(4) if random.random() < eps else int(values(s[None])[0].numpy().argmax())
        s2, r, won, over = env.step(a)
        memory.append((s, a, r, s2, float(won)))        # running out of time is not an end state
        s = s2
        if len(memory) > 300 and env.t % 2 == 0:
            b = random.sample(memory, 64)
            cols = [np.array(c) for c in zip(*b)]
            losses.append(float(learn(cols[0], cols[1].astype("int32"), cols[2].astype("float32"), cols[3], cols[4].astype("float32"))))
            updates += 1
            if updates % 100 == 0:
                target.set_weights(online.get_weights())
    if ep % 30 == 0:
        print(f"episode {ep} eps {eps:.2f} loss {np.mean(losses or [0]):.5f} updates {updates}")

greedy = play(env, lambda s: int(values(s[None])[0].numpy().argmax()), 60)
rand = play(env, lambda s: random.randrange(4), 60)
print(f"greedy: success {greedy[0]:.2f} return {greedy[1]:.3f}   random: success {rand[0]:.2f} return {rand[1]:.3f}")
