"""PPO on a hand-written, vectorised cart-pole."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf


class Poles:
    LIMIT = 200

    def __init__(self, n, seed):
        self.n, self.rng = n, np.random.default_rng(seed)
        self.s, self.t = self.fresh(n), np.zeros(n, int)

    def fresh(self, k):
        return self.rng.uniform(-0.05, 0.05, (k, 4))

    def step(self, act):
        x, v, th, om = self.s.T
        f = np.where(act == 1, 10.0, -10.0)
        tmp = (f + 0.05 * om ** 2 * np.sin(th)) / 1.1
        acc = (9.8 * np.sin(th) - np.cos(th) * tmp) / (0.5 * (4 / 3 - 0.1 * np.cos(th) ** 2 / 1.1))
        xa = tmp - 0.05 * acc * np.cos(th) / 1.1
        self.s = np.stack([x + 0.02 * v, v + 0.02 * xa, th + 0.02 * om, om + 0.02 * acc], 1)
        self.t += 1
        fell = (abs(self.s[:, 0]) > 2.4) | (abs(self.s[:, 2]) > 0.2095)
        late = (self.t >= self.LIMIT) & ~fell
        final = self.s.copy()
        over = fell | late
        self.s[over] = self.fresh(over.sum())
        length = self.t.copy()
        self.t[over] = 0
        return self.s.copy(), np.ones(self.n), fell, late, final, length


SCALE = np.array([1.0, 1.0, 6.0, 1.0])
prep = lambda o: tf.constant(o * SCALE, tf.float32)


def build():
    ortho = keras.initializers.Orthogonal
    i = keras.Input((4,))
    h = keras.layers.Dense(48, "tanh", kernel_initializer=ortho(1.4))(i)
    h = keras.layers.Dense(48, "tanh", kernel_initializer=ortho(1.4))(h)
    c = keras.layers.Dense(48, "tanh", kernel_initializer=ortho(1.4))(i)
    return keras.Model(i, [keras.layers.Dense(2, kernel_initializer=ortho(0.01))(h), keras.layers.Dense(1)(c)])


net = opt = None
GAMMA, LAM, CLIP, STEPS, N = 0.99, 0.95, 0.2, 128, 16
ITERS = 70
REWARD = 0.03           # keeps the critic's targets between 0 and 3


@tf.function(reduce_retracing=True)
def act_value(o):
    logits, v = net(o)
    return logits, v[:, 0]


@tf.function
def update(o, a, old, adv, ret):
    with tf.GradientTape() as tape:
        logits, v = net(o, training=True)
        logp = tf.nn.log_softmax(logits)
        ratio = tf.exp(tf.gather(logp, a, batch_dims=1) - old)
        gain = tf.minimum(ratio * adv, tf.clip_by_value(ratio, 1 - CLIP, 1 + CLIP) * adv)
        entropy = -tf.reduce_sum(tf.exp(logp) * logp, -1)
        loss = -tf.reduce_mean(gain) + 0.5 * tf.reduce_mean((v[:, 0] - ret) ** 2) - 0.005 * tf.reduce_mean(entropy)
    g, _ = tf.clip_by_global_norm(tape.gradient(loss, net.trainable_variables), 0.5)
    opt.apply_gradients(zip(g, net.trainable_variables))
    return loss, tf.reduce_mean(entropy)


def play(policy, seed, n=32):
    env = Poles(n, seed)
    o, alive, total = env.s.copy(), np.ones(n, bool), np.zeros(n)
    for _ in range(Poles.LIMIT):
        o, r, fell, late, _, _ = env.step(policy(o))
        total += r * alive
        alive &= ~(fell | late)
    return total.mean()


def main():
    global net, opt
    keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    net, opt = build(), keras.optimizers.Adam(2e-3, epsilon=1e-5)
    opt.build(net.trainable_variables)
    env = Poles(N, 1)
    o = env.s.copy()
    for it in range(ITERS):
        O, A, P, V, R, D, lens = [], [], [], [], [], [], []
        for _ in range(STEPS):
            logits, v = (t.numpy() for t in act_value(prep(o)))
            p = np.exp(logits - logits.max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
            a = (rng.random(N) < p[:, 1]).astype("int32")
            nxt, r, fell, late, final, length = env.step(a)
            r = r * REWARD
            if late.any():                          # cut by the clock: keep the value of what would have come
                r = r + late * GAMMA * act_value(prep(final))[1].numpy()
            lens += length[fell | late].tolist()
            for box, item in zip((O, A, P, V, R, D), (o, a, np.log(p[np.arange(N), a]), v, r, fell | late)):
                box.append(item)
            o = nxt
        O, A, P, V, R, D = map(np.stack, (O, A, P, V, R, D))          # [time, env, ...]
        nextv, run, adv = act_value(prep(o))[1].numpy(), 0.0, np.zeros_like(R)
        for t in reversed(range(STEPS)):
            go = 1.0 - D[t]
            run = R[t] + GAMMA * nextv * go - V[t] + GAMMA * LAM * go * run
            adv[t], nextv = run, V[t]
        ret = (adv + V).reshape(-1)
        O, A, P, adv = O.reshape(-1, 4), A.reshape(-1), P.reshape(-1), adv.reshape(-1)
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        opt.learning_rate = 2e-3 * (1 - it / ITERS)
        for _ in range(4):
            for idx in np.split(rng.permutation(len(A)), 8):
                loss, ent = update(prep(O[idx]), tf.constant(A[idx]), tf.constant(P[idx], tf.float32),
                                   tf.constant(adv[idx], tf.float32), tf.constant(ret[idx], tf.float32))
        if it % 10 == 0:
            print(f"it {it:2d} finished episodes {len(lens):3d} mean length {np.mean(lens or [0]):.0f} entropy {float(ent):.2f}")
    greedy = play(lambda s: act_value(prep(s))[0].numpy().argmax(1), seed=500)
    rand = play(lambda s: rng.integers(0, 2, len(s)), seed=500)
    print(f"mean return over 32 fresh episodes: {greedy:.1f} (random {rand:.1f}, ceiling {Poles.LIMIT})")


if __name__ == "__main__":
    main()
