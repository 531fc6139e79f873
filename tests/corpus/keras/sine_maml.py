# MAML on sinusoids, weights kept as a plain list so the inner step can be differentiated through.
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras

tf.random.set_seed(0)
rng = np.random.default_rng(0)
SHOTS, TASKS, INNER_LR, INNER_STEPS = 10, 16, 0.02, 3
SIZES = [1, 40, 40, 1]

theta = []
for a, b in zip(SIZES[:-1], SIZES[1:]):
    theta.append(tf.Variable(tf.random.normal([a, b], stddev=np.sqrt(2.0 / a))))
    theta.append(tf.Variable(tf.zeros([b])))


def sample_tasks(n, k):
    amp = rng.uniform(0.5, 3.0, (n, 1, 1))
    ph = rng.uniform(0, np.pi, (n, 1, 1))
    x = rng.uniform(-4, 4, (n, 2 * k, 1))
    y = amp * np.sin(x + ph)
    x, y = x.astype("float32"), y.astype("float32")
    return x[:, :k], y[:, :k], x[:, k:], y[:, k:]


def forward(x, w):
    # w carries a leading task axis once adapted
    h = x
    for i in range(0, len(w), 2):
        h = tf.matmul(h, w[i]) + w[i + 1][:, None, :]
        if i < len(w) - 2:
            h = tf.nn.relu(h)
    return h


def task_mse(x, y, w):
    return tf.reduce_mean(tf.square(forward(x, w) - y), axis=[1, 2])


def adapt(w, x, y, steps):
    for _ in range(steps):
        with tf.GradientTape() as inner:
            inner.watch(w)
            # a sum over tasks keeps each task's gradient its own
            loss = tf.reduce_sum(task_mse(x, y, w))
        g = inner.gradient(loss, w)
        w = [p - INNER_LR * d for p, d in zip(w, g)]
    return w


def spread(n):
    return [tf.tile(v[None], [n] + [1] * len(v.shape)) for v in theta]


meta_opt = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 3000, alpha=0.1))


@tf.function
def meta_step(xs, ys, xq, yq):
    with tf.GradientTape() as outer:
        w0 = spread(TASKS)
        before = tf.reduce_mean(task_mse(xq, yq, w0))
        w = adapt(w0, xs, ys, INNER_STEPS)
        after = tf.reduce_mean(task_mse(xq, yq, w))
    grads = outer.gradient(after, theta)
    grads, norm = tf.clip_by_global_norm(grads, 10.0)
    meta_opt.apply_gradients(zip(grads, theta))
    return before, after, norm


log = []
for it in range(1, 3001):
    before, after, norm = meta_step(*map(tf.constant, sample_tasks(TASKS, SHOTS)))
    log.append((float(before), float(after)))
    if it % 500 == 0:
        b, a = np.mean(log[-200:], axis=0)
        print(f"iter {it}: query mse before adaptation {b:.3f}, after {a:.3f}")

xs, ys, xq, yq = sample_tasks(200, SHOTS)
w = spread(200)
for s in (0, 1, 3, 10):
    out = adapt(w, tf.constant(xs), tf.constant(ys), s)
    print(f"new tasks, {s:2d} inner steps: mse {float(tf.reduce_mean(task_mse(xq, yq, out))):.3f}")
