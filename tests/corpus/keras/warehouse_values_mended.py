"""Fitted Q-learning for a cart on a slippery warehouse floor.

The floor is small enough to be solved exactly, so the learned table is compared
with value iteration and the greedy policy is scored exactly.
"""
import numpy as np
import tensorflow as tf
import keras

FLOOR = ["S..#....",
         "..#..x..",
         "......#.",
         ".x.#....",
         "......#.",
         ".#...x.G"]
MOVES = [(-1, 0), (0, 1), (1, 0), (0, -1)]
SLIP = 0.20
GAMMA = 0.97
H, W = len(FLOOR), len(FLOOR[0])
N_S, N_A = H * W, 4


def build_mdp():
    """P[s, a, s'], R[s, a, s'] and the set of absorbing cells."""
    P = np.zeros((N_S, N_A, N_S))
    R = np.full((N_S, N_A, N_S), -0.01)
    done = np.zeros(N_S, bool)
    for r in range(H):
        for c in range(W):
            s = r * W + c
            done[s] = FLOOR[r][c] in "xG"
            for a in range(N_A):
                for m in range(N_A):
                    dr, dc = MOVES[m]
                    rr, cc = min(max(r + dr, 0), H - 1), min(max(c + dc, 0), W - 1)
                    if FLOOR[rr][cc] == "#":
                        rr, cc = r, c
                    side = (m - a) % 4
                    prob = {0: 1 - SLIP, 1: SLIP / 2, 3: SLIP / 2}.get(side, 0.0)
                    P[s, a, rr * W + cc] += prob
            for s2 in range(N_S):
                cell = FLOOR[s2 // W][s2 % W]
                R[s, :, s2] += {"G": 1.0, "x": -0.6}.get(cell, 0.0)
    return P, R, done


def value_iteration(P, R, done):
    q = np.zeros((N_S, N_A))
    for _ in range(500):
        v = np.where(done, 0.0, q.max(1))
        q = (P * (R + GAMMA * v)).sum(-1)
    return q


def policy_return(policy, P, R, done):
    idx = np.arange(N_S)
    Pp = P[idx, policy] * ~done[:, None]
    Rp = (P[idx, policy] * R[idx, policy]).sum(-1) * ~done
    return np.linalg.solve(np.eye(N_S) - GAMMA * Pp, Rp)[0]


def collect(P, R, done, n, rng):
    cells = [s for s in range(N_S) if not done[s] and FLOOR[s // W][s % W] != "#"]
    s = rng.choice(cells, n)
    a = rng.integers(0, N_A, n)
    cdf = P[s, a].cumsum(-1)
    s2 = (rng.random((n, 1)) > cdf).sum(-1).clip(0, N_S - 1)
    return s, a, R[s, a, s2].astype("float32"), s2, done[s2].astype("float32"), cells


class QNet(keras.Model):
    def __init__(self, hidden=64):
        super().__init__()
        self.embed = keras.layers.Embedding(N_S, 32)
        self.h = keras.layers.Dense(hidden, activation="tanh")
        self.out = keras.layers.Dense(N_A)

    def call(self, s):
        return self.out(self.h(self.embed(s)))


def main(updates=2500, batch=256, seed=5):
    keras.utils.set_random_seed(seed)
    rng = np.random.default_rng(seed)
    P, R, done = build_mdp()
    q_star = value_iteration(P, R, done)
    s, a, r, s2, d, cells = collect(P, R, done, 20000, rng)

    net = QNet()
    lr = keras.optimizers.schedules.CosineDecay(2e-3, updates, alpha=0.05)
    opt = keras.optimizers.Adam(lr)

    @tf.function
    def update(s, a, r, s2, d):
        with tf.GradientTape() as tape:
            q_sa = tf.gather(net(s), a, batch_dims=1)
            target = r + GAMMA * (1.0 - d) * tf.reduce_max(net(s2), axis=-1)
            td = tf.stop_gradient(target) - q_sa
            loss = tf.reduce_mean(tf.square(td))
        grads = tape.gradient(loss, net.trainable_variables)
        opt.apply_gradients(zip(grads, net.trainable_variables))
        return loss

    ds = tf.data.Dataset.from_tensor_slices(
        (s.astype("int32"), a.astype("int32"), r, s2.astype("int32"), d))
    ds = ds.shuffle(20000, seed=seed).repeat().batch(batch).take(updates).prefetch(4)
    for i, b in enumerate(ds, 1):
        loss = update(*b)
        if i % 500 == 0:
            q = net(tf.range(N_S)).numpy()
            rmse = np.sqrt(np.mean((q - q_star)[cells] ** 2))
            print(f"update {i:5d}  td loss {float(loss):.4f}  rmse to exact values {rmse:.3f}")

    q = net(tf.range(N_S)).numpy()
    rmse = np.sqrt(np.mean((q - q_star)[cells] ** 2))
    spread = np.sqrt(np.mean((q_star - q_star[cells].mean())[cells] ** 2))
    got = policy_return(q.argmax(1), P, R, done)
    rnd = np.mean([policy_return(rng.integers(0, 4, N_S), P, R, done) for _ in range(30)])
    print(f"final rmse {rmse:.3f} (predicting the mean value: {spread:.3f})")
    print(f"greedy return from S {got:.3f}   optimal "
          f"{policy_return(q_star.argmax(1), P, R, done):.3f}   random {rnd:.3f}")


if __name__ == "__main__":
    main()
