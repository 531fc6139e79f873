"""Synchronous advantage actor-critic on a vectorised numpy CartPole."""
import numpy as np
import tensorflow as tf
import keras

N_ENVS = 48
ROLLOUT = 16
UPDATES = 300
GAMMA = 0.98
LAMBDA = 0.95
LR = 2e-3
ENTROPY = 0.01
MAX_STEPS = 200


class CartPoleVec:
    """Physics of the classic control task; all environments step together."""

    def __init__(self, n, seed):
        self.n, self.rng = n, np.random.default_rng(seed)
        self.state = self.rng.uniform(-0.05, 0.05, (n, 4))
        self.t = np.zeros(n, int)

    def obs(self):
        return self.state.astype("float32")

    def step(self, action):
        x, v, th, w = self.state.T
        force = np.where(action == 1, 10.0, -10.0)
        cos, sin = np.cos(th), np.sin(th)
        tmp = (force + 0.05 * w ** 2 * sin) / 1.1
        acc_th = (9.8 * sin - cos * tmp) / (0.5 * (4 / 3 - 0.1 * cos ** 2 / 1.1))
        acc = tmp - 0.05 * acc_th * cos / 1.1
        self.state = np.stack([x + 0.02 * v, v + 0.02 * acc, th + 0.02 * w, w + 0.02 * acc_th], 1)
        self.t += 1
        fell = (np.abs(self.state[:, 0]) > 2.4) | (np.abs(self.state[:, 2]) > 0.2095)
        timeout = (self.t >= MAX_STEPS) & ~fell
        done = fell | timeout
        final, lengths = self.obs(), self.t[done].copy()
        self.state[done] = self.rng.uniform(-0.05, 0.05, (done.sum(), 4))
        self.t[done] = 0
        return final, np.ones(self.n, "float32"), done, timeout, lengths


def mlp(outputs, name):
    return keras.Sequential([
        keras.Input((4,)),
        keras.layers.Dense(64, activation="tanh"),
        keras.layers.Dense(64, activation="tanh"),
        keras.layers.Dense(outputs),
    ], name=name)


keras.utils.set_random_seed(2)
actor, critic = mlp(2, "actor"), mlp(1, "critic")
optimizer = keras.optimizers.Adam(LR)


@tf.function
def act(obs):
    logits = actor(obs)
    return tf.random.categorical(logits, 1)[:, 0], critic(obs)[:, 0]


@tf.function
def update(obs, actions, advantages, returns):
    with tf.GradientTape(persistent=True) as tape:
        logp_all = tf.nn.log_softmax(actor(obs, training=True))
        logp = tf.gather(logp_all, actions, batch_dims=1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp_all) * logp_all, -1))
        policy_loss = -tf.reduce_mean(logp * advantages) - ENTROPY * entropy
        value_loss = tf.reduce_mean(tf.square(critic(obs, training=True)[:, 0] - returns))
    actor_grads = tape.gradient(policy_loss, actor.trainable_variables)
    critic_grads = tape.gradient(value_loss, critic.trainable_variables)
    optimizer.apply_gradients(zip(actor_grads, actor.trainable_variables))
    optimizer.apply_gradients(zip(critic_grads, critic.trainable_variables))
    return policy_loss, value_loss, entropy


def gae(rewards, values, dones, last_value):
    adv = np.zeros_like(rewards)
    running, nxt = 0.0, last_value
    for t in reversed(range(len(rewards))):
        alive = 1.0 - dones[t]
        delta = rewards[t] + GAMMA * nxt * alive - values[t]
        running = delta + GAMMA * LAMBDA * alive * running
        adv[t], nxt = running, values[t]
    return adv, adv + values


def evaluate(policy, seed, n=64):
    env = CartPoleVec(n, seed)
    first = np.zeros(n, int)
    for _ in range(MAX_STEPS):
        before = env.t.copy()
        _, _, done, _, _ = env.step(policy(env.obs()))
        first = np.where((first == 0) & done, before + 1, first)
    return first.mean()


rand = np.random.default_rng(9)
random_score = evaluate(lambda o: rand.integers(0, 2, len(o)), 100)
env, finished = CartPoleVec(N_ENVS, 0), []
for it in range(1, UPDATES + 1):
    buf = {k: [] for k in ("o", "a", "r", "v", "d")}
    for _ in range(ROLLOUT):
        o = env.obs()
        a, v = (z.numpy() for z in act(o))
        final, r, d, timeout, lengths = env.step(a)
        if timeout.any():  # cut off by the clock, not by falling: bootstrap
            r = r + GAMMA * timeout * critic(final).numpy()[:, 0]
        finished.extend(lengths)
        for k, val in zip("oarvd", (o, a, r, v, d.astype("float32"))):
            buf[k].append(val)
    b = {k: np.stack(vals).astype("float32") for k, vals in buf.items()}
    last = critic(env.obs()).numpy()[:, 0]
    adv, ret = gae(b["r"], b["v"], b["d"], last)
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    pl, vl, ent = update(b["o"].reshape(-1, 4), b["a"].reshape(-1).astype("int32"),
                         adv.reshape(-1), ret.reshape(-1))
    if it % 20 == 0:
        print(f"update {it:4d}  value loss {vl:8.3f}  entropy {ent:.3f}  "
              f"mean length of last 50 episodes {np.mean(finished[-50:]):.1f}")

score = evaluate(lambda o: actor(o).numpy().argmax(-1), 100)
print(f"greedy policy on fresh starts: {score:.1f} steps (random {random_score:.1f}, cap {MAX_STEPS})")
