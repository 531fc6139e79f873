# Cuisine from ingredient lists: one linear layer on normalised bags, plain SGD with a large rate.
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(55)
tf.random.set_seed(55)
N_ING, N_CUIS, N = 400, 10, 8000

pref = rng.dirichlet(np.full(N_ING, 0.08), size=N_CUIS)
common = rng.dirichlet(np.full(N_ING, 0.5))
y = rng.integers(0, N_CUIS, N)
bags = np.zeros((N, N_ING), "float32")
for i, c in enumerate(y):
    k = rng.integers(8, 20)
    bags[i] = rng.multinomial(k, 0.5 * pref[c] + 0.5 * common)
bags = np.log1p(bags)
idf = np.log(N / (1.0 + (bags > 0).sum(0)))
x = bags * idf
x = (x / np.linalg.norm(x, axis=1, keepdims=True)).astype("float32")
y = y.astype("int32")
xt, yt, xv, yv = x[:7000], y[:7000], x[7000:], y[7000:]

W = tf.Variable(tf.zeros((N_ING, N_CUIS)))
b = tf.Variable(tf.zeros((N_CUIS,)))
sgd = tf.keras.optimizers.SGD(learning_rate=12.0)
L2 = 2e-5


@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        nll = tf.nn.sparse_softmax_cross_entropy_with_logits(yb, xb @ W + b)
        loss = tf.reduce_mean(nll) + L2 * tf.nn.l2_loss(W)
    gw, gb = tape.gradient(loss, [W, b])
    sgd.apply_gradients([(gw, W), (gb, b)])
    return tf.reduce_mean(nll)


def score(xs, ys):
    logits = xs @ W.numpy() + b.numpy()
    return float((logits.argmax(1) == ys).mean())


print("start", score(xv, yv))
for epoch in range(61):
    order = rng.permutation(len(xt))
    total = 0.0
    for s in range(0, len(xt), 250):
        take = order[s : s + 250]
        total += float(step(xt[take], yt[take])) * len(take)
    if epoch % 6 == 0:
        print(f"epoch {epoch:2d} nll {total / len(xt):.4f} train {score(xt, yt):.3f} val {score(xv, yv):.3f}")
print("final val accuracy", round(score(xv, yv), 4))
