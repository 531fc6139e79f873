"""REINFORCE on a small docking task with a learned baseline (TensorFlow loop).

State: position, velocity, wind. Three thrusters. The printed "loss" is a
surrogate and goes up and down; the return is what counts.
"""
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

HORIZON, ENVS, UPDATES = 25, 48, 150
GAMMA = 0.97
os.makedirs("out", exist_ok=True)
keras.utils.set_random_seed(17)


class Dock:
    """A batch of carts that must stop at the origin."""

    def __init__(self, n, seed):
        self.n = n
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.pos = self.rng.uniform(-1.5, 1.5, self.n)
        self.vel = self.rng.uniform(-0.3, 0.3, self.n)
        self.wind = self.rng.uniform(-0.05, 0.05, self.n)
        return self.state()

    def state(self):
        return np.stack([self.pos, self.vel, 10 * self.wind], axis=1).astype("float32")

    def step(self, action):
        force = (action - 1) * 0.15
        self.vel = np.clip(0.95 * self.vel + force + self.wind, -0.6, 0.6)
        self.pos = np.clip(self.pos + self.vel, -3, 3)
        reward = -np.abs(self.pos) - 0.05 * np.abs(action - 1)
        return self.state(), reward.astype("float32")


def mlp(out, last_scale):
    return keras.Sequential(
        [
            keras.Input((3,)),
            layers.Dense(32, activation="tanh"),
            layers.Dense(32, activation="tanh"),
            layers.Dense(out, kernel_initializer=keras.initializers.RandomNormal(stddev=last_scale)),
        ]
    )


policy, critic = mlp(3, 0.01), mlp(1, 0.1)
pi_opt = keras.optimizers.Adam(8e-3)
v_opt = keras.optimizers.Adam(1e-2)


@tf.function
def logits_of(s):
    return policy(s)


@tf.function
def learn(states, actions, returns, entropy_weight):
    with tf.GradientTape(persistent=True) as tape:
        values = tf.squeeze(critic(states), axis=1)
        v_loss = tf.reduce_mean(tf.keras.losses.huber(returns[:, None], values[:, None]))
        logp = tf.nn.log_softmax(policy(states))
        chosen = tf.gather(logp, actions, axis=1, batch_dims=1)
        advantage = tf.stop_gradient(returns - values)
        advantage /= tf.math.reduce_std(advantage) + 1e-6
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, axis=1))
        pi_loss = -tf.reduce_mean(chosen * advantage) - entropy_weight * entropy
    pi_opt.apply_gradients(
        zip(tape.gradient(pi_loss, policy.trainable_variables), policy.trainable_variables)
    )
    v_opt.apply_gradients(
        zip(tape.gradient(v_loss, critic.trainable_variables), critic.trainable_variables)
    )
    del tape
    return pi_loss, v_loss, entropy


def rollout(env, rng, mode="sample"):
    s = env.reset()
    track = []
    for _ in range(HORIZON):
        logits = logits_of(tf.constant(s)).numpy()
        if mode == "sample":
            a = (logits + rng.gumbel(size=logits.shape)).argmax(1)
        elif mode == "greedy":
            a = logits.argmax(1)
        else:
            a = rng.integers(0, 3, len(s))
        nxt, r = env.step(a)
        track.append((s, a, r))
        s = nxt
    states, actions, rewards = (np.stack(v) for v in zip(*track))
    returns = np.zeros_like(rewards)
    g = np.zeros(env.n, "float32")
    for t in reversed(range(HORIZON)):
        g = rewards[t] + GAMMA * g
        returns[t] = g
    return states.reshape(-1, 3), actions.reshape(-1), returns.reshape(-1), rewards.sum(0).mean()


rng = np.random.default_rng(1)
env = Dock(ENVS, seed=2)
for it in range(1, UPDATES + 1):
    states, actions, returns, score = rollout(env, rng)
    weight = tf.constant(0.02 * (1 - it / UPDATES), tf.float32)
    pi_loss, v_loss, entropy = learn(
        tf.constant(states), tf.constant(actions), tf.constant(returns), weight
    )
    if it % 25 == 0 or it == 1:
        print(f"{it:4d} return {score:7.2f} pi {float(pi_loss):+.3f} "
              f"v {float(v_loss):.3f} entropy {float(entropy):.3f}")

fresh = Dock(400, seed=1234)
trained = rollout(fresh, rng, "greedy")[3]
random_score = rollout(Dock(400, seed=1234), rng, "random")[3]
print(f"fresh starts: greedy policy {trained:.2f}, random actions {random_score:.2f}")
policy.save("out/dock_policy.keras")
