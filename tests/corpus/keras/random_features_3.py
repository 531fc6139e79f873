"""Random Fourier features: a fixed random layer, a linear read-out, plain SGD with a big step."""
import argparse
import numpy as np
import keras
from keras import layers, ops
from sklearn.linear_model import LogisticRegression


class RandomFourier(layers.Layer):
    def __init__(self, units, gamma, seed, **kw):
        super().__init__(trainable=False, **kw)
        self.units, self.gamma, self.seed = units, gamma, seed

    def build(self, shape):
        s = self.seed
        self.omega = self.add_weight(
            shape=(shape[-1], self.units), trainable=False, name="omega",
            initializer=keras.initializers.RandomNormal(stddev=(2 * self.gamma) ** 0.5, seed=s))
        self.phase = self.add_weight(
            shape=(self.units,), trainable=False, name="phase",
            initializer=keras.initializers.RandomUniform(0.0, 2 * np.pi, seed=s + 1))

    def call(self, x):
        return ops.cos(ops.matmul(x, self.omega) + self.phase) * (2.0 / self.units) ** 0.5


def two_spirals(n, rng):
    y = rng.integers(0, 2, n)
    r = np.sqrt(rng.random(n)) * 3 * np.pi
    ang = r + np.pi * y
    x = np.stack([r * np.cos(ang), r * np.sin(ang)], 1) / 5.0
    return (x + rng.normal(0, 0.05, x.shape)).astype("float32"), y.astype("float32")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--features", type=int, default=1000)
    p.add_argument("--gamma", type=float, default=6.0)
    p.add_argument("--lr", type=float, default=8.0)
    p.add_argument("--epochs", type=int, default=25)
    a = p.parse_args()

    keras.utils.set_random_seed(2)
    rng = np.random.default_rng(2)
    x_tr, y_tr = two_spirals(4000, rng)
    x_te, y_te = two_spirals(1000, rng)

    model = keras.Sequential([
        keras.Input((2,)),
        RandomFourier(a.features, a.gamma, seed=5),
        layers.Dense(1, kernel_initializer="zeros"),
    ])
    model.summary()
    # features have norm about one, so the logistic loss allows steps this long
    model.compile(optimizer=keras.optimizers.SGD(a.lr, momentum=0.9),
                  loss=keras.losses.BinaryCrossentropy(from_logits=True),
                  metrics=[keras.metrics.BinaryAccuracy(threshold=0.0, name="acc")])
    drop = keras.callbacks.LearningRateScheduler(lambda e, lr: a.lr if e < 18 else a.lr * 0.1)
    hist = model.fit(x_tr, y_tr, epochs=a.epochs, batch_size=256, verbose=0, callbacks=[drop])
    for e in (0, 4, 9, 14, 19, a.epochs - 1):
        print("epoch %2d loss %.4f acc %.4f" % (e + 1, hist.history["loss"][e], hist.history["acc"][e]))

    linear = LogisticRegression().fit(x_tr, y_tr).score(x_te, y_te)
    _, acc = model.evaluate(x_te, y_te, verbose=0)
    print(f"logistic regression on raw inputs {linear:.3f}   test accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
