import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras as K

K.utils.set_random_seed(14)
rng = np.random.default_rng(14)


def two_spirals(n):
    y = rng.integers(0, 2, n)
    r = np.sqrt(rng.random(n)) * 3
    a = 2.2 * r + np.pi * y + rng.normal(0, 0.12, n)
    return np.stack([r * np.cos(a), r * np.sin(a)], 1).astype("float32"), y.astype("float32")


class Fourier(K.layers.Layer):
    """cos(xW + b) with W, b drawn once; stays as drawn (Rahimi & Recht)."""

    def __init__(self, features, gamma, **kw):
        super().__init__(trainable=False, **kw)
        self.features, self.gamma = features, gamma

    def build(self, shape):
        self.w = self.add_weight(name="w", shape=(shape[-1], self.features),
                                 initializer=K.initializers.RandomNormal(stddev=self.gamma))
        self.b = self.add_weight(name="b", shape=(self.features,), initializer=K.initializers.RandomUniform(0, 2 * np.pi))

    def call(self, x):
        return tf.cos(x @ self.w + self.b) * (2.0 / self.features) ** 0.5


x, y = two_spirals(3000)
xt, yt = two_spirals(1000)

model = K.Sequential([K.Input((2,)), Fourier(1500, 2.0), K.layers.Dense(1)])
model.compile(K.optimizers.Adam(0.05), K.losses.BinaryCrossentropy(from_logits=True),
              metrics=[K.metrics.BinaryAccuracy(threshold=0.0, name="acc")])
model.summary()
before = model.layers[0].w.numpy().copy()
decay = K.callbacks.LearningRateScheduler(lambda e, lr: 0.05 * 0.92 ** e)
model.fit(x, y, validation_data=(xt, yt), batch_size=100, epochs=45, callbacks=[decay], verbose=2)
print("features untouched:", np.array_equal(before, model.layers[0].w.numpy()))
print("test accuracy %.3f" % model.evaluate(xt, yt, verbose=0)[1])
