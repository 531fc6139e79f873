# Softmax regression on vineyard assays. Plain SGD, no momentum.
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
rng = np.random.default_rng(6)
N, D, K = 6000, 12, 4

centers = rng.normal(0, 1.0, (K, D))
y = rng.integers(0, K, N)
x = centers[y] + rng.normal(0, 0.8, (N, D))
x = x / np.linalg.norm(x, axis=1, keepdims=True) / 3.0
x, y = x.astype("float32"), y.astype("int32")
xtr, ytr, xte, yte = x[:5000], y[:5000], x[5000:], y[5000:]

W = tf.Variable(tf.zeros((D, K)))
b = tf.Variable(tf.zeros((K,)))
opt = keras.optimizers.SGD(learning_rate=12.0)
opt.build([W, b])


@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        logits = xb @ W + b
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(yb, logits)
        loss = tf.reduce_mean(ce) + 1e-4 * tf.reduce_sum(W * W)
    opt.apply_gradients(zip(tape.gradient(loss, [W, b]), [W, b]))
    return loss


ds = tf.data.Dataset.from_tensor_slices((xtr, ytr)).shuffle(5000, seed=3).batch(500)
for epoch in range(40):
    ls = [float(step(xb, yb)) for xb, yb in ds]
    if epoch % 5 == 4:
        acc = np.mean(np.argmax(xte @ W.numpy() + b.numpy(), 1) == yte)
        print(f"epoch {epoch + 1:2d}  loss {np.mean(ls):.4f}  test acc {acc:.4f}")
print("weight norm", float(tf.norm(W)))
