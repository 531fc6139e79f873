"""Ring or not, on answers from a crowd: fixed random Fourier features and a linear read-out."""
import numpy as np
import keras
from keras import layers, ops

keras.utils.set_random_seed(31)
rng = np.random.default_rng(31)


def points(n):
    p = rng.uniform(-3, 3, (n, 2)).astype("float32")
    r = np.hypot(p[:, 0], p[:, 1])
    return p, np.where((r > 1.2) & (r < 2.4), 1.0, -1.0).astype("float32")[:, None]


x, truth = points(12000)
flip = rng.random(truth.shape) < 0.25         # one in four answers is wrong
y = np.where(flip, -truth, truth)
x_test, truth_test = points(1500)


class FourierFeatures(layers.Layer):
    def __init__(self, width, scale):
        super().__init__(trainable=False)
        self.width, self.scale = width, scale

    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], self.width),
                                 initializer=keras.initializers.RandomNormal(stddev=self.scale), trainable=False)
        self.b = self.add_weight(shape=(self.width,),
                                 initializer=keras.initializers.RandomUniform(0.0, 2 * np.pi), trainable=False)

    def call(self, p):
        return np.sqrt(2.0 / self.width) * ops.cos(ops.matmul(p, self.w) + self.b)


def sign_accuracy(t, p):
    return ops.mean(ops.cast(ops.equal(ops.sign(t), ops.sign(p)), "float32"))


model = keras.Sequential([keras.Input((2,)), FourierFeatures(300, 1.0), layers.Dense(1)])
model.compile(keras.optimizers.SGD(learning_rate=0.3), loss="squared_hinge", metrics=[sign_accuracy])
model.summary()
model.fit(x, y, batch_size=64, epochs=20, validation_split=0.2, verbose=2)

pred = model.predict(x_test, verbose=0)
print("agreement with the clean answer:", float((np.sign(pred) == truth_test).mean()))
