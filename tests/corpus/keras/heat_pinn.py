"""Solve u_t = k u_xx on [0,1] with u(x,0)=sin(pi x)+0.5 sin(3 pi x), u=0 at both ends: Adam, then L-BFGS from scipy."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import scipy.optimize
import tensorflow as tf
import keras

keras.utils.set_random_seed(2)
K = 0.05
W_PDE, W_INIT, W_EDGE = 1.0, 50.0, 20.0

net = keras.Sequential([keras.Input((2,))] + [keras.layers.Dense(32, "tanh") for _ in range(3)] + [keras.layers.Dense(1)])


def start(x):
    return np.sin(np.pi * x) + 0.5 * np.sin(3 * np.pi * x)


def exact(x, t):
    return np.exp(-K * np.pi ** 2 * t) * np.sin(np.pi * x) + 0.5 * np.exp(-9 * K * np.pi ** 2 * t) * np.sin(3 * np.pi * x)


rng = np.random.default_rng(0)


def points(n):
    x, t = rng.random((n, 1)), rng.random((n, 1))
    x0 = rng.random((n // 4, 1))
    te = rng.random((n // 4, 1))
    xe = rng.integers(0, 2, (n // 4, 1))
    f = lambda a: tf.constant(a, tf.float32)
    return f(x), f(t), f(np.hstack([x0, 0 * x0])), f(start(x0)), f(np.hstack([xe, te]))


def losses(x, t, xi, ui, edge):
    with tf.GradientTape() as second:
        second.watch(x)
        with tf.GradientTape(persistent=True) as first:
            first.watch([x, t])
            u = net(tf.concat([x, t], 1))
        u_x = first.gradient(u, x)
    u_t = first.gradient(u, t)
    u_xx = second.gradient(u_x, x)
    del first
    pde = tf.reduce_mean((u_t - K * u_xx) ** 2)
    init = tf.reduce_mean((net(xi) - ui) ** 2)
    bound = tf.reduce_mean(net(edge) ** 2)
    return W_PDE * pde + W_INIT * init + W_EDGE * bound, (pde, init, bound)


@tf.function
def value_and_grad(x, t, xi, ui, edge):
    with tf.GradientTape() as tape:
        total, parts = losses(x, t, xi, ui, edge)
    return total, parts, tape.gradient(total, net.trainable_variables)


def error():
    g = np.stack(np.meshgrid(np.linspace(0, 1, 60), np.linspace(0, 1, 60)), -1).reshape(-1, 2)
    e = exact(g[:, 0], g[:, 1])
    p = net(tf.constant(g, tf.float32)).numpy()[:, 0]
    return np.linalg.norm(p - e) / np.linalg.norm(e)


opt = keras.optimizers.Adam(keras.optimizers.schedules.PolynomialDecay(8e-3, 1500, 2e-4, power=2.0))
for step in range(1, 1501):
    total, parts, g = value_and_grad(*points(256))
    opt.apply(g, net.trainable_variables)
    if step % 300 == 0:
        print(f"adam {step}: total {total:.4f} pde {parts[0]:.2e} init {parts[1]:.2e} edge {parts[2]:.2e} rel error {error():.4f}")

fixed = points(768)
shapes = [v.shape for v in net.trainable_variables]
cuts = np.cumsum([int(np.prod(s)) for s in shapes])[:-1]


def put(flat):
    for v, part, s in zip(net.trainable_variables, np.split(flat, cuts), shapes):
        v.assign(part.reshape(s).astype("float32"))


def fun(flat):
    put(flat)
    total, _, g = value_and_grad(*fixed)
    return float(total), np.concatenate([a.numpy().ravel() for a in g]).astype("float64")


x0 = np.concatenate([v.numpy().ravel() for v in net.trainable_variables]).astype("float64")
res = scipy.optimize.minimize(fun, x0, jac=True, method="L-BFGS-B", options={"maxiter": 150, "maxcor": 30})
put(res.x)
print(f"l-bfgs: {res.nit} iterations, total {res.fun:.5f}, rel error {error():.4f}")
