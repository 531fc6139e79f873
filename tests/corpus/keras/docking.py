"""Policy gradient with a value baseline: steer a barge onto its berth (own loop)."""
import argparse

import keras
import numpy as np
import tensorflow as tf
from keras import layers


class Docking:
    """Many barges at once. State: position and speed. Actions: astern, drift, ahead."""

    def __init__(self, n, seed):
        self.n = n
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.pos = self.rng.uniform(-2, 2, self.n)
        self.vel = self.rng.uniform(-0.3, 0.3, self.n)
        return self.state()

    def state(self):
        return np.stack([self.pos, self.vel], 1).astype("float32")

    def step(self, action):
        self.vel = 0.9 * self.vel + 0.12 * (action - 1)
        self.pos = np.clip(self.pos + self.vel, -3, 3)
        return self.state(), (-np.abs(self.pos) - 0.5 * np.abs(self.vel)).astype("float32")


def mlp(outputs):
    return keras.Sequential([keras.Input((2,)), layers.Dense(32, activation="tanh"), layers.Dense(outputs)])


def rollout(env, policy, steps, greedy=False):
    states, actions, rewards = [], [], []
    s = env.reset()
    for _ in range(steps):
        logits = policy(s).numpy()
        noise = 0 if greedy else env.rng.gumbel(size=logits.shape)
        a = (logits + noise).argmax(1)
        states.append(s)
        actions.append(a)
        s, r = env.step(a)
        rewards.append(r)
    return np.array(states), np.array(actions), np.array(rewards)


def returns(rewards, gamma):
    out = np.zeros_like(rewards)
    running = np.zeros(rewards.shape[1], "float32")
    for t in reversed(range(len(rewards))):
        running = rewards[t] + gamma * running
        out[t] = running
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--iterations", type=int, default=120)
    parser.add_argument("--barges", type=int, default=64)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--gamma", type=float, default=0.9)
    args = parser.parse_args()
    keras.utils.set_random_seed(3)
    env = Docking(args.barges, 3)
    policy, value = mlp(3), mlp(1)
    p_opt, v_opt = keras.optimizers.Adam(0.01), keras.optimizers.Adam(0.02)

    @tf.function
    def update(s, a, g):
        with tf.GradientTape(persistent=True) as tape:
            v = tf.squeeze(value(s), -1)
            v_loss = tf.reduce_mean(tf.square(g - v))
            adv = tf.stop_gradient(g - v)
            adv = (adv - tf.reduce_mean(adv)) / (tf.math.reduce_std(adv) + 1e-6)
            log_p = tf.nn.log_softmax(policy(s))
            chosen = tf.gather(log_p, a, batch_dims=1)
            entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(log_p) * log_p, -1))
            p_loss = -tf.reduce_mean(adv * chosen) - 0.003 * entropy
        p_opt.apply_gradients(zip(tape.gradient(p_loss, policy.trainable_variables), policy.trainable_variables))
        v_opt.apply_gradients(zip(tape.gradient(v_loss, value.trainable_variables), value.trainable_variables))
        return p_loss, v_loss

    for it in range(args.iterations):
        s, a, r = rollout(env, policy, args.steps)
        g = returns(r, args.gamma)
        p_loss, v_loss = update(s.reshape(-1, 2), a.reshape(-1), g.reshape(-1))
        if it % 10 == 0:
            print(f"{it:4d}  reward {r.sum(0).mean():8.2f}  policy {float(p_loss):+.4f}  value {float(v_loss):.3f}")
    test = Docking(500, 99)
    _, _, r = rollout(test, policy, args.steps, greedy=True)
    print(f"greedy reward {r.sum(0).mean():.2f}  docked at the end {np.mean(r[-1] > -0.3):.3f}")


if __name__ == "__main__":
    main()
