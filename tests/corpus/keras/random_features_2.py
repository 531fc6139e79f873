"""Digits with fixed random cosine features; only the read-out is learned.

The projection stays as drawn (Rahimi & Recht style), so a plain linear
read-out with a big step size is a convex problem and converges quickly.
"""
import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(14)


class CosineFeatures(layers.Layer):
    def __init__(self, count, scale, **kw):
        super().__init__(trainable=False, **kw)
        self.count, self.scale = count, scale

    def build(self, shape):
        self.freq = self.add_weight(
            shape=(shape[-1], self.count), trainable=False, name="freq",
            initializer=keras.initializers.RandomNormal(stddev=self.scale))
        self.phase = self.add_weight(
            shape=(self.count,), trainable=False, name="phase",
            initializer=keras.initializers.RandomUniform(0.0, 2 * np.pi))

    def call(self, x):
        z = keras.ops.cos(keras.ops.matmul(x, self.freq) + self.phase)
        return z * np.sqrt(2.0 / self.count)


def data():
    bunch = load_digits()
    x = (bunch.data / 16).astype("float32")
    x_tr, x_te, y_tr, y_te = train_test_split(
        x, bunch.target, test_size=0.3, stratify=bunch.target, random_state=1)
    mean = x_tr.mean(0)
    return x_tr - mean, y_tr, x_te - mean, y_te


def main():
    x_tr, y_tr, x_te, y_te = data()
    model = keras.Sequential([
        keras.Input((64,)),
        CosineFeatures(1500, 0.4),
        layers.Dense(10, kernel_initializer="zeros"),
    ])
    steps = 30 * int(np.ceil(len(x_tr) / 32))
    rate = keras.optimizers.schedules.CosineDecay(8.0, steps, alpha=0.01)
    model.compile(
        optimizer=keras.optimizers.SGD(rate),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    print("learned weights:", sum(int(np.prod(w.shape)) for w in model.trainable_weights),
          "fixed weights:", sum(int(np.prod(w.shape)) for w in model.non_trainable_weights))
    log = model.fit(x_tr, y_tr, epochs=30, batch_size=32, verbose=0).history
    for epoch in range(0, 30, 6):
        print(f"epoch {epoch:2d} loss {log['loss'][epoch]:.4f} acc {log['accuracy'][epoch]:.3f}")
    loss, acc = model.evaluate(x_te, y_te, verbose=0)
    print(f"held-out loss {loss:.4f} accuracy {acc:.4f} (majority {np.bincount(y_te).max() / len(y_te):.3f})")


if __name__ == "__main__":
    main()
