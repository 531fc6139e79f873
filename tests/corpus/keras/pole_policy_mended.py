import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras


class Poles:
    """A batch of carts with poles, stepped together."""

    def __init__(self, n, seed, limit=150):
        self.n, self.limit = n, limit
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.s = self.rng.uniform(-0.05, 0.05, (self.n, 4))
        self.alive = np.ones(self.n, bool)
        return self.s.astype("float32")

    def step(self, action):
        x, v, th, w = self.s.T
        force = np.where(action == 1, 10.0, -10.0)
        c, s = np.cos(th), np.sin(th)
        tmp = (force + 0.05 * w ** 2 * s) / 1.1
        acc = (9.8 * s - c * tmp) / (0.5 * (4 / 3 - 0.1 * c ** 2 / 1.1))
        xa = tmp - 0.05 * acc * c / 1.1
        self.s = np.stack([x + 0.02 * v, v + 0.02 * xa, th + 0.02 * w, w + 0.02 * acc], 1)
        reward = self.alive.astype("float32")
        self.alive &= (np.abs(self.s[:, 0]) < 2.4) & (np.abs(self.s[:, 2]) < 0.21)
        return self.s.astype("float32"), reward


def discounted(rewards, gamma=0.98):
    """rewards: (time, env)"""
    out = np.zeros_like(rewards)
    running = np.zeros(rewards.shape[1], "float32")
    for t in reversed(range(len(rewards))):
        running = rewards[t] + gamma * running
        out[t] = running
    return out


policy = None


def rollout(env):
    w1, b1, w2, b2 = [p.numpy() for p in policy.trainable_variables]
    obs, acts, rews = [], [], []
    s = env.reset()
    for _ in range(env.limit):
        logit = (np.tanh(s @ w1 + b1) @ w2 + b2)[:, 0]
        a = (env.rng.random(env.n) < 1 / (1 + np.exp(-np.clip(logit, -30, 30)))).astype("float32")
        obs.append(s)
        acts.append(a)
        s, r = env.step(a)
        s = np.clip(s, -10, 10)
        rews.append(r)
        if not env.alive.any():
            break
    return np.array(obs), np.array(acts), np.array(rews)


def main():
    global policy
    keras.utils.set_random_seed(6)
    policy = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(24, activation="tanh"),
                               keras.layers.Dense(1)])
    opt = keras.optimizers.Adam(0.02)
    env = Poles(32, seed=6)

    @tf.function(reduce_retracing=True)
    def update(o, a, adv):
        with tf.GradientTape() as tape:
            logit = policy(o)[:, 0]
            nll = tf.nn.sigmoid_cross_entropy_with_logits(labels=a, logits=logit)
            loss = tf.reduce_mean(nll * adv)
        grads = tape.gradient(loss, policy.trainable_variables)
        opt.apply_gradients(zip(grads, policy.trainable_variables))
        return loss

    for it in range(80):
        o, a, r = rollout(env)
        live = r > 0
        g = discounted(r)[live]
        adv = (g - g.mean()) / (g.std() + 1e-6)
        update(tf.constant(o[live]), tf.constant(a[live]), tf.constant(adv))
        if it % 10 == 9:
            print(f"iteration {it + 1:3d}  mean steps upright {r.sum(0).mean():.1f}")


main()
