"""Which offer to show: contextual policy gradient on a simulated shop, TensorFlow GradientTape."""
import collections
import json
import os

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(9)
N_OFFERS, D = 5, 8
Round = collections.namedtuple("Round", "context action reward")


class Shop:
    """Purchase chance depends on the visitor; the reward is the margin of the offer when it sells."""

    def __init__(self, seed):
        r = np.random.default_rng(123)
        self.w = r.normal(0, 1.2, (D, N_OFFERS))
        self.margin = np.array([1.0, 1.2, 1.5, 2.0, 3.0])
        self.bias = np.array([0.3, 0.1, -0.3, -0.8, -1.5])
        self.rng = np.random.default_rng(seed)

    def visitors(self, n):
        return self.rng.normal(0, 1, (n, D)).astype("float32")

    def chance(self, c):
        return 1 / (1 + np.exp(-(c @ self.w + self.bias)))

    def serve(self, c, a):
        p = self.chance(c)[np.arange(len(a)), a]
        return (self.rng.random(len(a)) < p) * self.margin[a] - 0.5

    def value(self, c, a):
        return self.chance(c)[np.arange(len(a)), a] * self.margin[a] - 0.5


policy = keras.Sequential([
    keras.Input((D,)),
    keras.layers.Dense(32, activation="tanh"),
    keras.layers.Dense(N_OFFERS, kernel_initializer="zeros"),
])
critic = keras.Sequential([
    keras.Input((D,)),
    keras.layers.Dense(32, activation="tanh"),
    keras.layers.Dense(1),
])
pi_opt = keras.optimizers.Adam(6e-3)
v_opt = keras.optimizers.Adam(1e-2)
temperature = tf.Variable(1.0, trainable=False)


@tf.function
def act(context):
    return tf.random.categorical(policy(context) / temperature, 1)[:, 0]


@tf.function
def improve(context, action, reward, beta):
    with tf.GradientTape(persistent=True) as tape:
        logits = policy(context) / temperature
        value = critic(context)[:, 0]
        advantage = tf.stop_gradient(reward - value)
        logp = tf.nn.log_softmax(logits)
        chosen = tf.gather(logp, action, axis=1, batch_dims=1)
        entropy = -tf.reduce_sum(tf.exp(logp) * logp, axis=1)
        pi_loss = -tf.reduce_mean(chosen * advantage) - beta * tf.reduce_mean(entropy)
        v_loss = tf.reduce_mean(tf.square(reward - value))
    pi_opt.apply_gradients(zip(tape.gradient(pi_loss, policy.trainable_variables),
                               policy.trainable_variables))
    v_opt.apply_gradients(zip(tape.gradient(v_loss, critic.trainable_variables),
                              critic.trainable_variables))
    del tape
    return pi_loss, v_loss, tf.reduce_mean(entropy)


def collect(shop, n):
    c = shop.visitors(n)
    a = act(tf.constant(c)).numpy()
    return Round(c, a, shop.serve(c, a).astype("float32"))


def greedy_value(shop, n=5000):
    c = shop.visitors(n)
    a = policy(c).numpy().argmax(1)
    return shop.value(c, a).mean()


train_shop, test_shop = Shop(1), Shop(2)
history = []
UPDATES = 900
for step in range(1, UPDATES + 1):
    r = collect(train_shop, 256)
    beta = 0.05 * (1 - step / UPDATES)
    pl, vl, ent = improve(r.context, r.action, r.reward, tf.constant(beta, tf.float32))
    if step == 2 * UPDATES // 3:
        pi_opt.learning_rate.assign(2e-3)
    if step % 150 == 0:
        history.append({"step": step, "reward": float(r.reward.mean()), "entropy": float(ent)})
        print(f"step {step} policy loss {float(pl):+.4f} value loss {float(vl):.3f} "
              f"entropy {float(ent):.3f} batch reward {r.reward.mean():.3f}")

os.makedirs("out", exist_ok=True)
with open("out/offers.json", "w") as f:
    json.dump(history, f)
c = test_shop.visitors(5000)
rand = test_shop.value(c, np.random.default_rng(0).integers(0, N_OFFERS, 5000)).mean()
fixed = max(test_shop.value(c, np.full(5000, k)).mean() for k in range(N_OFFERS))
best = (test_shop.chance(c) * test_shop.margin - 0.5).max(1).mean()
print(f"greedy value {greedy_value(test_shop):.3f} | random {rand:.3f} | best fixed {fixed:.3f} | oracle {best:.3f}")
