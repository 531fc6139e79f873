"""REINFORCE with a batch-mean baseline: a cart on a track has to stay near a moving pick-up point."""
import argparse
import numpy as np
import tensorflow as tf
import keras
from keras import layers

ACTIONS = np.array([-1.0, 0.0, 1.0])


class TrackEnv:
    """A batch of carts; reward falls with the distance to the target."""

    def __init__(self, n_envs, horizon, seed):
        self.n, self.horizon = n_envs, horizon
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.pos = self.rng.uniform(-3, 3, self.n)
        self.vel = np.zeros(self.n)
        self.target = self.rng.uniform(-3, 3, self.n)
        return self.observe()

    def observe(self):
        return np.stack([self.pos - self.target, self.vel, self.pos], 1).astype("float32")

    def step(self, action):
        self.vel = 0.6 * self.vel + 0.4 * ACTIONS[action]
        self.pos = np.clip(self.pos + self.vel, -5, 5)
        self.target = np.clip(self.target + self.rng.normal(0, 0.1, self.n), -4, 4)
        reward = np.exp(-np.abs(self.pos - self.target))
        return self.observe(), reward.astype("float32")


def sample_actions(logits, rng):
    gumbel = rng.gumbel(size=logits.shape)
    return np.argmax(logits + gumbel, axis=1)


def rollout(env, policy, rng):
    obs, act, rew = [], [], []
    o = env.reset()
    for _ in range(env.horizon):
        a = sample_actions(policy(o), rng)
        obs.append(o)
        act.append(a)
        o, r = env.step(a)
        rew.append(r)
    return np.stack(obs), np.stack(act), np.stack(rew)      # (T, N, ...)


def returns_to_go(rewards, gamma):
    out = np.zeros_like(rewards)
    acc = np.zeros(rewards.shape[1], dtype="float32")
    for t in range(len(rewards) - 1, -1, -1):
        acc = rewards[t] + gamma * acc
        out[t] = acc
    return out


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--iterations", type=int, default=100)
    ap.add_argument("--envs", type=int, default=32)
    ap.add_argument("--horizon", type=int, default=30)
    ap.add_argument("--gamma", type=float, default=0.9)
    ap.add_argument("--lr", type=float, default=0.01)
    args = ap.parse_args()

    keras.utils.set_random_seed(1)
    rng = np.random.default_rng(1)
    net = keras.Sequential([keras.Input((3,)), layers.Dense(32, activation="tanh"),
                            layers.Dense(len(ACTIONS))])
    optimizer = keras.optimizers.Adam(args.lr)

    @tf.function
    def forward(o):
        return net(o)

    @tf.function
    def update(obs, act, adv):
        with tf.GradientTape() as tape:
            logp = tf.nn.log_softmax(net(obs))
            chosen = tf.gather(logp, act, batch_dims=1)
            entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, axis=1))
            loss = -tf.reduce_mean(chosen * adv) - 0.003 * entropy
        grads = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(grads, net.trainable_variables))
        return loss, entropy

    policy = lambda o: forward(tf.constant(o)).numpy()
    env = TrackEnv(args.envs, args.horizon, seed=2)
    for it in range(1, args.iterations + 1):
        obs, act, rew = rollout(env, policy, rng)
        g = returns_to_go(rew, args.gamma)
        adv = g - g.mean(axis=1, keepdims=True)
        adv = adv / (adv.std() + 1e-6)
        loss, ent = update(obs.reshape(-1, 3), act.reshape(-1), adv.reshape(-1))
        if it % 10 == 0:
            print(f"iter {it:3d} return {rew.sum(0).mean():.3f} entropy {float(ent):.3f} loss {float(loss):.4f}")

    test = TrackEnv(200, args.horizon, seed=77)
    learned = rollout(test, policy, rng)[2].sum(0).mean()
    test = TrackEnv(200, args.horizon, seed=77)
    uniform = rollout(test, lambda o: np.zeros((len(o), 3)), rng)[2].sum(0).mean()
    print(f"evaluation return {learned:.3f}   uniform policy {uniform:.3f}")


if __name__ == "__main__":
    main()
