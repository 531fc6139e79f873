"""Denoising autoencoder whose decoder is the transpose of the encoder."""
import numpy as np
import keras
from keras import layers, ops

keras.utils.set_random_seed(9)
rng = np.random.default_rng(9)
DEPTH = 96


def echo_lines(n):
    t = np.arange(DEPTH)
    out = np.zeros((n, DEPTH))
    for i in range(n):
        for _ in range(rng.integers(1, 4)):
            c, w, a = rng.uniform(10, 86), rng.uniform(2, 5), rng.uniform(0.5, 1.5)
            out[i] += a * np.exp(-((t - c) / w) ** 2) * np.cos((t - c) * 0.9)
    return out.astype("float32")


class TiedDense(layers.Layer):
    """y = x W^T + b with W borrowed from another Dense."""

    def __init__(self, source, activation=None, **kwargs):
        super().__init__(**kwargs)
        self._source = [source]          # list hides it from layer tracking: weights are counted once
        self.activation = keras.activations.get(activation)

    def build(self, shape):
        n = self._source[0].kernel.shape[0]
        self.bias = self.add_weight(shape=(n,), initializer="zeros", name="bias")

    def call(self, x):
        return self.activation(ops.matmul(x, ops.transpose(self._source[0].kernel)) + self.bias)


class TiedAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.corrupt = layers.GaussianNoise(0.35)
        self.e1 = layers.Dense(128, activation="gelu")
        self.e2 = layers.Dense(32)
        self.e1.build((None, DEPTH))
        self.e2.build((None, 128))
        self.d2 = TiedDense(self.e2, "gelu")
        self.d1 = TiedDense(self.e1)

    def call(self, x, training=False):
        z = self.e2(self.e1(self.corrupt(x, training=training)))
        return self.d1(self.d2(z))


clean = echo_lines(5000)
train, valid, test = clean[:4000], clean[4000:4400], clean[4400:]
noisy_test = test + 0.35 * rng.normal(size=test.shape).astype("float32")

ae = TiedAE()
ae.compile(optimizer=keras.optimizers.Nadam(2e-3), loss="mse")
hist = ae.fit(train, train, validation_data=(valid, valid), epochs=25, batch_size=64, verbose=0)
for e in range(0, 25, 6):
    print(f"epoch {e + 1:2d} train (noisy in) {hist.history['loss'][e]:.4f} val (clean in) {hist.history['val_loss'][e]:.4f}")
print("trainable tensors:", len(ae.trainable_variables))

mse_in = float(np.mean((noisy_test - test) ** 2))
mse_out = float(np.mean((ae.predict(noisy_test, verbose=0) - test) ** 2))
smooth = np.apply_along_axis(lambda r: np.convolve(r, np.ones(3) / 3, mode="same"), 1, noisy_test)
print(f"test MSE noisy {mse_in:.4f}  moving average {np.mean((smooth - test) ** 2):.4f}  autoencoder {mse_out:.4f}")
