"""Ordering policy for a spare-parts store, trained with REINFORCE and a learned baseline."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(12)
ENVS, HORIZON, ITERS = 96, 24, 120
ORDERS = np.array([0, 2, 4, 8, 12])
HOLD, MISS, FIXED = 0.15, 2.0, 1.0
GAMMA, ENTROPY = 0.95, 0.02


class Store:
    """Stock arrives two days after ordering; demand follows a weekly rhythm."""

    def __init__(self, n, rng):
        self.n, self.rng = n, rng

    def reset(self):
        self.stock = self.rng.integers(0, 10, self.n).astype(float)
        self.pipe = np.zeros((self.n, 2))
        self.day = self.rng.integers(0, 7, self.n)
        return self.observe()

    def observe(self):
        return np.concatenate([self.stock[:, None] / 10, self.pipe / 10,
                               np.eye(7)[self.day]], 1).astype("float32")

    def step(self, qty):
        self.stock += self.pipe[:, 0]
        self.pipe = np.stack([self.pipe[:, 1], qty], 1)
        demand = self.rng.poisson(np.array([2, 2, 3, 4, 6, 1, 0.3])[self.day])
        sold = np.minimum(self.stock, demand)
        cost = FIXED * (qty > 0) + MISS * (demand - sold)
        self.stock -= sold
        cost += HOLD * self.stock
        self.day = (self.day + 1) % 7
        return self.observe(), -cost


def mlp(out):
    return keras.Sequential([layers.Input((10,)), layers.Dense(48, activation="tanh"),
                             layers.Dense(48, activation="tanh"),
                             layers.Dense(out, kernel_initializer="zeros")])


policy, value = mlp(len(ORDERS)), mlp(1)
opt_p, opt_v = keras.optimizers.Adam(6e-3), keras.optimizers.Adam(1e-2)


@tf.function(reduce_retracing=True)
def logits_of(obs):
    return policy(obs)


@tf.function
def update(obs, act, ret):
    with tf.GradientTape() as tape:
        v = tf.squeeze(value(obs), -1)
        v_loss = tf.reduce_mean(keras.losses.huber(ret[:, None], v[:, None]))
    opt_v.apply_gradients(zip(tape.gradient(v_loss, value.trainable_variables),
                              value.trainable_variables))
    adv = ret - v
    adv = (adv - tf.reduce_mean(adv)) / (tf.math.reduce_std(adv) + 1e-6)
    with tf.GradientTape() as tape:
        logp = tf.nn.log_softmax(policy(obs))
        chosen = tf.gather(logp, act, batch_dims=1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, -1))
        p_loss = -tf.reduce_mean(chosen * tf.stop_gradient(adv)) - ENTROPY * entropy
    grads = tape.gradient(p_loss, policy.trainable_variables)
    grads, _ = tf.clip_by_global_norm(grads, 0.5)
    opt_p.apply_gradients(zip(grads, policy.trainable_variables))
    return p_loss, v_loss, entropy


def rollout(env, choose):
    obs, O, A, R = env.reset(), [], [], []
    for _ in range(HORIZON):
        a = choose(obs)
        nxt, r = env.step(ORDERS[a].astype(float))
        O.append(obs), A.append(a), R.append(r)
        obs = nxt
    return np.array(O), np.array(A), np.array(R)


def sample(obs):
    g = np.random.gumbel(size=(len(obs), len(ORDERS)))
    return (logits_of(obs).numpy() + g).argmax(1)


def base_stock(level):
    def choose(obs):
        gap = level - 10 * obs[:, :3].sum(1)
        return np.searchsorted(ORDERS, np.clip(gap, 0, 12), side="right") - 1
    return choose


env = Store(ENVS, np.random.default_rng(1))
for it in range(ITERS):
    O, A, R = rollout(env, sample)
    G, acc = np.zeros_like(R), np.zeros(ENVS)
    for t in reversed(range(HORIZON)):
        acc = R[t] + GAMMA * acc
        G[t] = acc
    keep = HORIZON - 4                     # the last returns are cut short
    p, v, h = update(O[:keep].reshape(-1, 10), A[:keep].reshape(-1).astype("int32"),
                     (G[:keep] / 10).reshape(-1).astype("float32"))
    if it % 20 == 19:
        print(f"iter {it + 1:3d}  policy loss {float(p):+.4f}  value loss {float(v):.3f}  "
              f"entropy {float(h):.2f}  cost per day {-R.mean():.3f}")


def cost(choose, seed=77):
    np.random.seed(seed)
    return -rollout(Store(1500, np.random.default_rng(seed)), choose)[2].mean()


best = min((cost(base_stock(s), 5), s) for s in range(6, 22))[1]
rand = lambda o: np.random.randint(0, len(ORDERS), len(o))
greedy = lambda o: logits_of(o).numpy().argmax(1)
print(f"fresh weeks, cost per day: learned {cost(greedy):.3f}   base stock ({best}) {cost(base_stock(best)):.3f}"
      f"   random {cost(rand):.3f}")
