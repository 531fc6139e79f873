"""REINFORCE with a learned baseline on a windy grid; many games are played side by side."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

SIZE, HORIZON, GAMES, GAMMA = 6, 30, 64, 0.97
MOVES = np.array([[0, 1], [0, -1], [1, 0], [-1, 0]])


class WindyGrid:
    def __init__(self, games, seed):
        self.n, self.rng = games, np.random.default_rng(seed)

    def reset(self):
        self.pos = self.rng.integers(0, SIZE, (self.n, 2))
        self.goal = self.rng.integers(0, SIZE, (self.n, 2))
        same = (self.pos == self.goal).all(1)
        self.goal[same] = (self.goal[same] + 1) % SIZE
        self.alive = np.ones(self.n, bool)
        return self.observe()

    def observe(self):
        return np.concatenate([np.eye(SIZE)[self.pos[:, 0]], np.eye(SIZE)[self.pos[:, 1]],
                               np.eye(SIZE)[self.goal[:, 0]], np.eye(SIZE)[self.goal[:, 1]]],
                              1).astype("float32")

    def step(self, action):
        wind = self.rng.random(self.n) < 0.1
        action = np.where(wind, 2, action)
        moved = np.clip(self.pos + MOVES[action], 0, SIZE - 1)
        self.pos = np.where(self.alive[:, None], moved, self.pos)
        done = (self.pos == self.goal).all(1)
        reward = np.where(self.alive, np.where(done, 1.0, -0.02), 0.0)
        was_alive = self.alive.copy()
        self.alive &= ~done
        return self.observe(), reward.astype("float32"), was_alive.astype("float32")


keras.utils.set_random_seed(40)
trunk = keras.Input((4 * SIZE,))
h = layers.Dense(64, activation="tanh")(trunk)
policy = keras.Model(trunk, layers.Dense(4, kernel_initializer="zeros")(h))
critic = keras.Sequential([keras.Input((4 * SIZE,)), layers.Dense(64, activation="tanh"), layers.Dense(1)])
opt_pi, opt_v = keras.optimizers.Adam(1e-2), keras.optimizers.Adam(1e-2)
act = tf.function(lambda o: tf.random.categorical(policy(o), 1)[:, 0])


@tf.function
def update(obs, action, ret, mask):
    count = tf.reduce_sum(mask)
    with tf.GradientTape(persistent=True) as tape:
        value = critic(obs)[:, 0]
        logp = tf.nn.log_softmax(policy(obs))
        chosen = tf.gather(logp, action, batch_dims=1)
        adv = tf.stop_gradient(ret - value)
        entropy = -tf.reduce_sum(tf.exp(logp) * logp, 1)
        loss_pi = -tf.reduce_sum((chosen * adv + 0.005 * entropy) * mask) / count
        loss_v = tf.reduce_sum(tf.square(ret - value) * mask) / count
    opt_pi.apply_gradients(zip(tape.gradient(loss_pi, policy.trainable_variables), policy.trainable_variables))
    opt_v.apply_gradients(zip(tape.gradient(loss_v, critic.trainable_variables), critic.trainable_variables))
    return loss_pi, loss_v


def play(env, chooser):
    obs = env.reset()
    log = []
    for _ in range(HORIZON):
        a = chooser(obs)
        nxt, r, m = env.step(a)
        log.append((obs, a, r, m))
        obs = nxt
    return [np.stack(z) for z in zip(*log)]


env = WindyGrid(GAMES, seed=1)
for it in range(1, 161):
    obs, action, reward, mask = play(env, lambda o: act(o).numpy())
    ret = np.zeros_like(reward)
    run = np.zeros(GAMES, "float32")
    for t in reversed(range(HORIZON)):
        run = reward[t] + GAMMA * run
        ret[t] = run
    lp, lv = update(obs.reshape(-1, 4 * SIZE), action.reshape(-1).astype("int64"),
                    ret.reshape(-1), mask.reshape(-1))
    if it % 20 == 0:
        print(f"iter {it}  return {reward.sum(0).mean():.3f}  pi loss {lp:+.4f}  value loss {lv:.4f}")

test_rng = np.random.default_rng(0)
random_return = play(WindyGrid(1000, seed=77), lambda o: test_rng.integers(0, 4, len(o)))[2].sum(0).mean()
greedy = play(WindyGrid(1000, seed=77), lambda o: policy(o).numpy().argmax(1))[2].sum(0).mean()
print(f"random policy {random_return:.3f}   greedy policy on unseen games {greedy:.3f}")
