"""REINFORCE for a small lift: pick up the caller, then go to the asked floor."""
import numpy as np
import tensorflow as tf

FLOORS, HORIZON, LANES, UPDATES = 6, 14, 64, 220
GAMMA = 0.95


class Lift:
    def __init__(self, lanes, seed):
        self.n = lanes
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.at = self.rng.integers(0, FLOORS, self.n)
        self.call = self.rng.integers(0, FLOORS, self.n)
        self.goal = (self.call + self.rng.integers(1, FLOORS, self.n)) % FLOORS
        self.loaded = np.zeros(self.n, bool)
        self.done = np.zeros(self.n, bool)
        return self.view()

    def view(self):
        target = np.where(self.loaded, self.goal, self.call)
        eye = np.eye(FLOORS, dtype="float32")
        return np.concatenate([eye[self.at], eye[target], self.loaded[:, None].astype("float32")], 1)

    def step(self, action):
        live = ~self.done
        move = np.array([-1, 0, 1])[action]
        self.at = np.clip(self.at + move * live, 0, FLOORS - 1)
        reward = -0.05 * live
        opened = live & (action == 1)
        pick = opened & ~self.loaded & (self.at == self.call)
        drop = opened & self.loaded & (self.at == self.goal)
        reward = reward + 0.5 * pick + 1.0 * drop
        self.loaded |= pick
        self.done |= drop
        return self.view(), reward.astype("float32"), live.astype("float32")


tf.keras.utils.set_random_seed(41)
policy = tf.keras.Sequential([
    tf.keras.Input((2 * FLOORS + 1,)), tf.keras.layers.Dense(64, activation="tanh"),
    tf.keras.layers.Dense(3)])
critic = tf.keras.Sequential([
    tf.keras.Input((2 * FLOORS + 1,)), tf.keras.layers.Dense(64, activation="tanh"),
    tf.keras.layers.Dense(1)])
policy_opt = tf.keras.optimizers.Adam(1e-2)
critic_opt = tf.keras.optimizers.Adam(1e-2)


@tf.function
def update(s, a, ret, live):
    with tf.GradientTape(persistent=True) as tape:
        v = critic(s)[:, 0]
        adv = tf.stop_gradient(ret - v)
        logp = tf.nn.log_softmax(policy(s))
        chosen = tf.reduce_sum(logp * tf.one_hot(a, 3), -1)
        entropy = -tf.reduce_sum(tf.exp(logp) * logp, -1)
        total = tf.reduce_sum(live)
        actor_loss = -tf.reduce_sum(live * (chosen * adv + 0.01 * entropy)) / total
        critic_loss = tf.reduce_sum(live * tf.square(ret - v)) / total
    policy_opt.apply_gradients(zip(tape.gradient(actor_loss, policy.trainable_variables), policy.trainable_variables))
    critic_opt.apply_gradients(zip(tape.gradient(critic_loss, critic.trainable_variables), critic.trainable_variables))
    return actor_loss, critic_loss


logits_of = tf.function(lambda s: policy(s))
env, rng = Lift(LANES, 0), np.random.default_rng(1)
for it in range(UPDATES):
    obs, S, A, R, L = env.reset(), [], [], [], []
    for _ in range(HORIZON):
        noise = rng.gumbel(size=(LANES, 3))
        act = (logits_of(tf.constant(obs)).numpy() + noise).argmax(-1)
        S.append(obs), A.append(act)
        obs, r, live = env.step(act)
        R.append(r), L.append(live)
    ret, acc = np.zeros_like(R), np.zeros(LANES, "float32")
    for t in reversed(range(HORIZON)):
        acc = R[t] + GAMMA * acc
        ret[t] = acc
    flat = [np.concatenate(v) for v in (S, A, ret, L)]
    al, cl = update(*map(tf.constant, flat))
    if it % 20 == 0 or it == UPDATES - 1:
        print(f"{it:4d} actor {float(al):+.3f} critic {float(cl):.3f} "
              f"return {np.sum(R, 0).mean():+.3f} delivered {env.done.mean():.2f}")
