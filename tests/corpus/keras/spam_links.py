"""Linear classifier on hashed link features, plain gradient descent."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

tf.random.set_seed(3)
rng = np.random.default_rng(3)
DIM, N = 400, 12000
truth = rng.normal(0, 1, DIM) * (rng.random(DIM) < 0.3)


def sample(n):
    x = np.zeros((n, DIM), "float32")
    for r in range(n):
        x[r, rng.choice(DIM, 12, replace=False)] = 1.0 / np.sqrt(12)
    y = (x @ truth + rng.normal(0, 0.15, n) > 0).astype("float32")
    return x, y


x, y = sample(N)
xv, yv = sample(2000)
w = tf.Variable(tf.zeros(DIM))
b = tf.Variable(0.0)
RATE = 20.0


@tf.function
def step(xb, yb, rate):
    with tf.GradientTape() as tape:
        z = tf.linalg.matvec(xb, w) + b
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=yb, logits=z))
    gw, gb = tape.gradient(loss, [w, b])
    w.assign_sub(rate * gw)
    b.assign_sub(0.02 * rate * gb)
    return loss


for epoch in range(30):
    rate = RATE * 0.93 ** epoch
    order = rng.permutation(N)
    losses = [float(step(x[order[i:i + 500]], y[order[i:i + 500]], tf.constant(rate, tf.float32)))
              for i in range(0, N, 500)]
    if epoch % 5 == 4:
        acc = np.mean((xv @ w.numpy() + b.numpy() > 0) == (yv > 0.5))
        print(f"epoch {epoch + 1} rate {rate:.1f} loss {np.mean(losses):.4f} val acc {acc:.3f}")
