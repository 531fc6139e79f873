"""One-step advantage actor-critic on a wind-blown cart (many carts in parallel)."""
import os

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SEED = 4
CARTS = 64
HORIZON = 30
ITERATIONS = 150
GAMMA = 0.9
ENTROPY = 0.003

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


class WindyTrack:
    """State: position, speed, wind. Action: push left, coast, push right. Reward: closeness to the middle."""

    def reset(self):
        self.pos = rng.uniform(-2, 2, CARTS)
        self.speed = np.zeros(CARTS)
        self.wind = rng.normal(0, 0.05, CARTS)
        self.age = 0
        return self.state()

    def state(self):
        return np.stack([self.pos, self.speed * 3, self.wind * 10], axis=1).astype("float32")

    def step(self, action):
        reward = 1.0 - np.minimum(np.abs(self.pos), 2.5)
        self.pos = self.pos + self.speed
        self.speed = 0.85 * self.speed + 0.12 * (action - 1) + self.wind
        self.pos = np.clip(self.pos, -3, 3)
        self.age += 1
        return self.state(), reward.astype("float32")


def mlp(out, name):
    return keras.Sequential(
        [keras.Input((3,)), layers.Dense(48, activation="tanh"), layers.Dense(48, activation="tanh"), layers.Dense(out)],
        name=name,
    )


actor = mlp(3, "actor")
critic = mlp(1, "critic")
actor_opt = keras.optimizers.Adam(3e-3)
critic_opt = keras.optimizers.Adam(5e-3)


def value(states):
    return critic(states)


@tf.function
def act(states):
    return tf.random.categorical(actor(states), 1)[:, 0]


@tf.function
def update(states, actions, rewards, following):
    target = rewards + GAMMA * value(following)
    with tf.GradientTape() as tape:
        td_error = tf.stop_gradient(target) - value(states)
        critic_loss = tf.reduce_mean(tf.square(td_error))
    grads = tape.gradient(critic_loss, critic.trainable_variables)
    critic_opt.apply_gradients(zip(grads, critic.trainable_variables))

    advantage = tf.stop_gradient(td_error)
    advantage = advantage / (tf.math.reduce_std(advantage) + 1e-6)
    with tf.GradientTape() as tape:
        logp_all = tf.nn.log_softmax(actor(states))
        logp = tf.reduce_sum(logp_all * tf.one_hot(actions, 3), axis=-1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp_all) * logp_all, axis=-1))
        actor_loss = -tf.reduce_mean(logp * advantage) - ENTROPY * entropy
    grads = tape.gradient(actor_loss, actor.trainable_variables)
    actor_opt.apply_gradients(zip(grads, actor.trainable_variables))
    return actor_loss, critic_loss


env = WindyTrack()
for iteration in range(1, ITERATIONS + 1):
    batch = []
    total = 0.0
    state = env.reset()
    for _ in range(HORIZON):
        action = act(state).numpy()
        following, reward = env.step(action)
        batch.append((state, action, reward, following))
        total += reward.mean()
        state = following
    states, actions, rewards, followings = (np.concatenate(column) for column in zip(*batch))
    order = rng.permutation(len(states))
    for chunk in np.array_split(order, 4):
        a_loss, c_loss = update(states[chunk], actions[chunk], rewards[chunk], followings[chunk])
    if iteration % 15 == 0:
        print(f"iteration {iteration:4d}  return {total:7.2f}  actor {float(a_loss):.4f}  critic {float(c_loss):.4f}")
