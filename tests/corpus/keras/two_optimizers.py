from __future__ import annotations
import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score, recall_score

keras.utils.set_random_seed(5)
Q, FLIP, MICRO, ACCUM, EPOCHS = 0.5, 0.3, 16, 4, 25


def load():
    x, y = make_classification(
        7000, n_features=20, n_informative=8, n_redundant=4, n_classes=4, n_clusters_per_class=1,
        weights=[0.6, 0.2, 0.12, 0.08], class_sep=2.0, flip_y=0.0, random_state=3,
    )
    x = ((x - x.mean(0)) / x.std(0)).astype("float32")
    y = y.astype("int32")
    x, y, x_test, y_test = x[:5000], y[:5000], x[5000:], y[5000:]
    rng = np.random.default_rng(9)
    noisy = y.copy()
    hit = rng.random(len(y)) < FLIP          # crowd workers answer at random this often
    noisy[hit] = rng.integers(0, 4, hit.sum())
    return x, noisy, x_test, y_test


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.body = [layers.Dense(64, activation="selu", kernel_initializer="lecun_normal") for _ in range(2)]
        self.head = layers.Dense(4)

    def call(self, x):
        for layer in self.body:
            x = layer(x)
        return self.head(x)


def robust_loss(y, logits, weight):
    """Generalised cross entropy (1 - p^q) / q, weighted by row."""
    p = tf.reduce_sum(tf.nn.softmax(logits) * tf.one_hot(y, 4), axis=1)
    return tf.reduce_mean(weight * (1.0 - tf.pow(p + 1e-7, Q)) / Q)


def main():
    x, y, x_test, y_test = load()
    freq = np.bincount(y, minlength=4) / len(y)
    class_w = tf.constant((1.0 / freq) / (1.0 / freq).mean(), tf.float32)
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x)).batch(MICRO, drop_remainder=True)

    net = Net()
    net(x[:2])
    head = net.head.trainable_variables
    body = [v for layer in net.body for v in layer.trainable_variables]
    opt_body = keras.optimizers.Adagrad(0.03)
    opt_head = keras.optimizers.SGD(0.5)
    store = [tf.Variable(tf.zeros_like(v), trainable=False) for v in body + head]

    @tf.function
    def accumulate(xb, yb):
        with tf.GradientTape() as tape:
            loss = robust_loss(yb, net(xb, training=True), tf.gather(class_w, yb)) / ACCUM
        for s, g in zip(store, tape.gradient(loss, body + head)):
            s.assign_add(g)
        return loss * ACCUM

    @tf.function
    def apply():
        grads = [s.read_value() for s in store]
        opt_body.apply_gradients(zip(grads[:len(body)], body))
        opt_head.apply_gradients(zip(grads[len(body):], head))
        for s in store:
            s.assign(tf.zeros_like(s))

    for epoch in range(EPOCHS):
        total, n = 0.0, 0
        for i, (xb, yb) in enumerate(ds):
            total += float(accumulate(xb, yb))
            n += 1
            if (i + 1) % ACCUM == 0:
                apply()
        if epoch % 4 == 0 or epoch == EPOCHS - 1:
            fit = (net(x).numpy().argmax(1) == y).mean()
            print(f"epoch {epoch:2d} loss {total / n:.4f} agreement with the crowd {fit:.3f}")

    guess = net(x_test).numpy().argmax(1)
    print("balanced accuracy on checked labels: %.3f" % balanced_accuracy_score(y_test, guess))
    print("recall by class:", np.round(recall_score(y_test, guess, average=None), 3))


if __name__ == "__main__":
    main()
