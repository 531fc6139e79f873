"""Autoencoder with tied weights; the loss is added inside the layer, compile gets none."""
import keras
import numpy as np
from keras import layers, ops
from sklearn.datasets import load_digits

keras.utils.set_random_seed(4)
data = (load_digits().data / 16.0).astype("float32")
np.random.shuffle(data)


class Tied(layers.Layer):
    def __init__(self, code, **kw):
        super().__init__(**kw)
        self.code = code

    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], self.code), initializer="glorot_uniform", name="w")
        self.b = self.add_weight(shape=(self.code,), initializer="zeros", name="b")
        self.c = self.add_weight(shape=(shape[-1],), initializer="zeros", name="c")

    def call(self, x):
        h = ops.tanh(ops.matmul(x, self.w) + self.b)
        r = ops.sigmoid(ops.matmul(h, ops.transpose(self.w)) + self.c)
        self.add_loss(ops.mean(ops.sum(ops.square(r - x), axis=-1)))
        return r


inp = keras.Input((64,))
model = keras.Model(inp, Tied(20)(inp))
model.compile(optimizer=keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True, clipnorm=5.0))
model.fit(data[:1500], epochs=20, batch_size=32, verbose=2)

rec = model.predict(data[1500:], verbose=0)
mse = np.mean((rec - data[1500:]) ** 2)
print("held-out MSE %.4f, against variance %.4f" % (mse, data[1500:].var(axis=0).mean()))
