import tensorflow as tf
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

tf.random.set_seed(3)
np.random.seed(3)

X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=3)

xs = StandardScaler()
X_train = xs.fit_transform(X_train).astype(np.float32)
X_test = xs.transform(X_test).astype(np.float32)
y_mu, y_sd = y_train.mean(), y_train.std()
y_train_s = ((y_train - y_mu) / y_sd).astype(np.float32)

train = (tf.data.Dataset.from_tensor_slices((X_train, y_train_s))
         .shuffle(400)
         .batch(32))

# plain two layer network, weights by hand
def glorot(n_in, n_out):
    return tf.Variable(tf.random.normal((n_in, n_out), stddev=(2.0 / (n_in + n_out)) ** 0.5))

W1, b1 = glorot(10, 16), tf.Variable(tf.zeros(16))
W2, b2 = glorot(16, 1), tf.Variable(tf.zeros(1))
params = [W1, b1, W2, b2]

def net(x):
    h = tf.nn.tanh(x @ W1 + b1)
    return h @ W2 + b2

lr = 0.03
l2 = 1e-3

for epoch in range(1, 21):
    total, n = 0.0, 0
    for xb, yb in train:
        with tf.GradientTape() as tape:
            pred = net(xb)
            mse = tf.reduce_mean((pred - yb) ** 2)
            loss = mse + l2 * (tf.nn.l2_loss(W1) + tf.nn.l2_loss(W2))
        grads = tape.gradient(loss, params)
        for p, g in zip(params, grads):
            p.assign_sub(lr * g)
        total += float(mse) * len(xb)
        n += len(xb)
    if epoch % 5 == 0:
        print(f"epoch {epoch:3d}  train mse {total / n:.4f}")

p_test = net(X_test).numpy().ravel() * y_sd + y_mu
print("prediction range: %.1f .. %.1f" % (p_test.min(), p_test.max()))
print("target range    : %.1f .. %.1f" % (y_test.min(), y_test.max()))
print("test R2 = %.3f" % r2_score(y_test, p_test))
