"""REINFORCE with a learned baseline for a two-lift building, TensorFlow.  Rewards are negative waits."""
import argparse

import numpy as np
import tensorflow as tf
import keras
from keras import layers


class Building:
    """`n` independent copies.  One caller a step; the agent picks which lift serves the floor."""

    FLOORS = 8

    def __init__(self, n, seed, length=16):
        self.n, self.length = n, length
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.t = 0
        self.pos = self.rng.integers(0, self.FLOORS, (self.n, 2)).astype("float32")
        self.busy = np.zeros((self.n, 2), "float32")
        self.next_call()
        return self.obs()

    def next_call(self):
        lobby = self.rng.random(self.n) < 0.5
        self.call = np.where(lobby, 0, self.rng.integers(0, self.FLOORS, self.n)).astype("float32")
        self.goal = np.where(lobby, self.rng.integers(1, self.FLOORS, self.n), 0).astype("float32")

    def obs(self):
        f = self.FLOORS - 1
        return np.concatenate([self.pos / f, self.busy / 10, self.call[:, None] / f, self.goal[:, None] / f,
                               np.abs(self.pos - self.call[:, None]) / f], 1).astype("float32")

    def step(self, lift):
        row = np.arange(self.n)
        wait = self.busy[row, lift] + np.abs(self.pos[row, lift] - self.call)
        self.busy[row, lift] = wait + np.abs(self.call - self.goal) + 1
        self.pos[row, lift] = self.goal
        self.busy = np.maximum(self.busy - 4, 0)
        self.next_call()
        self.t += 1
        return self.obs(), -wait, self.t >= self.length


def rollout(env, choose):
    obs, done, out = env.reset(), False, []
    while not done:
        act = choose(obs)
        nxt, rew, done = env.step(act)
        out.append((obs, act, rew))
        obs = nxt
    return [np.stack(x) for x in zip(*out)]           # (time, copies, ...)


def returns_to_go(rewards, gamma):
    out, acc = np.zeros_like(rewards), 0.0
    for t in range(len(rewards) - 1, -1, -1):
        acc = rewards[t] + gamma * acc
        out[t] = acc
    return out


class Agent(keras.Model):
    def __init__(self, width=64):
        super().__init__()
        self.trunk = layers.Dense(width, activation="tanh")
        self.policy = layers.Dense(2, kernel_initializer="zeros")
        self.value = keras.Sequential([layers.Dense(width, activation="tanh"), layers.Dense(1)])

    def call(self, obs):
        return self.policy(self.trunk(obs)), self.value(obs)[..., 0]


def main(a):
    keras.utils.set_random_seed(a.seed)
    agent, env = Agent(), Building(a.copies, a.seed)
    opt = keras.optimizers.Adam(a.lr, epsilon=1e-5)
    test = lambda choose: rollout(Building(400, 999), choose)[2].sum(0).mean()
    rng = np.random.default_rng(a.seed)
    forward = tf.function(agent, reduce_retracing=True)

    def sample(obs):
        logits = forward(tf.constant(obs))[0]
        return tf.random.categorical(logits, 1)[:, 0].numpy()

    @tf.function
    def update(obs, act, ret, entropy_weight):
        with tf.GradientTape() as tape:
            logits, value = agent(obs)
            adv = tf.stop_gradient(ret - value)
            adv = (adv - tf.reduce_mean(adv)) / (tf.math.reduce_std(adv) + 1e-6)
            logp = tf.nn.log_softmax(logits)
            chosen = tf.gather(logp, act, batch_dims=1)
            entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, -1))
            loss = -tf.reduce_mean(chosen * adv) - entropy_weight * entropy + 0.05 * tf.reduce_mean((ret - value) ** 2)
        grads = tape.gradient(loss, agent.trainable_variables)
        grads, norm = tf.clip_by_global_norm(grads, 1.0)
        opt.apply_gradients(zip(grads, agent.trainable_variables))
        return loss, entropy, norm

    for it in range(1, a.iters + 1):
        obs, act, rew = rollout(env, sample)
        ret = returns_to_go(rew, a.gamma) / 10.0
        weight = tf.constant(a.entropy * (1 - it / a.iters), tf.float32)
        loss, ent, norm = update(obs.reshape(-1, obs.shape[-1]), act.reshape(-1).astype("int32"),
                                 ret.reshape(-1).astype("float32"), weight)
        if it % (a.iters // 6) == 0:
            print(f"it {it:4d}  return {rew.sum(0).mean():7.2f}  loss {float(loss):+.3f}  "
                  f"entropy {float(ent):.3f}  grad norm {float(norm):.2f}")

    greedy = test(lambda o: forward(tf.constant(o))[0].numpy().argmax(1))
    print(f"evaluation on fresh buildings: greedy policy {greedy:.2f}, "
          f"random lift {test(lambda o: rng.integers(0, 2, len(o))):.2f}, always lift 0 {test(lambda o: np.zeros(len(o), int)):.2f}")


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--iters", type=int, default=240)
    p.add_argument("--copies", type=int, default=64)
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--gamma", type=float, default=0.9)
    p.add_argument("--entropy", type=float, default=0.02)
    p.add_argument("--seed", type=int, default=6)
    main(p.parse_args())
