# REINFORCE on a home-made cart-pole (16 carts simulated side by side).
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras

SEED, N_ENVS, MAX_STEPS, UPDATES, GAMMA = 4, 16, 150, 50, 0.98
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def physics(s, a):
    x, v, th, w = s.T
    force = np.where(a == 1, 10.0, -10.0)
    cos, sin = np.cos(th), np.sin(th)
    tmp = (force + 0.05 * w ** 2 * sin) / 1.1
    acc_th = (9.8 * sin - cos * tmp) / (0.5 * (4 / 3 - 0.1 * cos ** 2 / 1.1))
    acc = tmp - 0.05 * acc_th * cos / 1.1
    return np.stack([x + 0.02 * v, v + 0.02 * acc, th + 0.02 * w, w + 0.02 * acc_th], 1)


policy = keras.Sequential([
    keras.Input((4,)),
    keras.layers.Dense(32, activation="tanh"),
    keras.layers.Dense(2),
])
opt = keras.optimizers.Adam(2e-2)
forward = tf.function(policy)


def rollout():
    s = rng.uniform(-0.05, 0.05, (N_ENVS, 4))
    alive = np.ones(N_ENVS, bool)
    S, A, R, M = [], [], [], []
    for _ in range(MAX_STEPS):
        logits = forward(tf.constant(s, tf.float32)).numpy()
        p1 = 1 / (1 + np.exp(logits[:, 0] - logits[:, 1]))
        a = (rng.random(N_ENVS) < p1).astype(int)
        S.append(s), A.append(a), M.append(alive.copy()), R.append(alive.astype(float))
        s = np.where(alive[:, None], physics(s, a), s)
        alive &= (np.abs(s[:, 0]) < 2.4) & (np.abs(s[:, 2]) < 0.21)
        if not alive.any():
            break
    return np.array(S), np.array(A), np.array(R), np.array(M)


def discounted(rewards):
    out = np.zeros_like(rewards)
    running = np.zeros(rewards.shape[1])
    for t in reversed(range(len(rewards))):
        running = rewards[t] + GAMMA * running
        out[t] = running
    return out


history = []
for update in range(UPDATES):
    S, A, R, M = rollout()
    G = discounted(R)
    G = (G - G[M].mean()) / (G[M].std() + 1e-8)
    states = tf.constant(S[M], tf.float32)
    actions = tf.constant(A[M], tf.int32)
    weights = tf.constant(G[M], tf.float32)
    with tf.GradientTape() as tape:
        nll = tf.nn.sparse_softmax_cross_entropy_with_logits(actions, policy(states))
        loss = tf.reduce_mean(nll * weights)
    grads = tape.gradient(loss, policy.trainable_variables)
    opt.apply_gradients(zip(grads, policy.trainable_variables))
    history.append(R.sum(0).mean())
    if update % 5 == 4:
        print(f"update {update + 1:3d}  mean episode length {np.mean(history[-5:]):.1f}")
print(f"first 5 updates {np.mean(history[:5]):.1f}   last 5 updates {np.mean(history[-5:]):.1f}")
