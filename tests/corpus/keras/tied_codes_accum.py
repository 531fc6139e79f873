"""Denoising autoencoder with tied weights, trained on micro-batches whose gradients are summed up."""
import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split

MICRO, GROUPS = 24, 4
CODE = 12


class TiedAutoencoder(keras.layers.Layer):
    """The decoder uses the transposed encoder matrices and only owns its biases."""

    def __init__(self, dims, noise=0.15, **kw):
        super().__init__(**kw)
        self.noise = noise
        self.mats = [self.add_weight(shape=(a, b), initializer="glorot_uniform", name=f"w{k}")
                     for k, (a, b) in enumerate(zip(dims[:-1], dims[1:]))]
        self.up = [self.add_weight(shape=(b,), initializer="zeros", name=f"up{k}")
                   for k, b in enumerate(dims[1:])]
        self.down = [self.add_weight(shape=(a,), initializer="zeros", name=f"down{k}")
                     for k, a in enumerate(dims[:-1])]

    def encode(self, x):
        last = len(self.mats) - 1
        for k, (w, b) in enumerate(zip(self.mats, self.up)):
            x = tf.matmul(x, w) + b
            x = x if k == last else tf.nn.gelu(x)
        return x

    def decode(self, z):
        for k in reversed(range(len(self.mats))):
            z = tf.matmul(z, self.mats[k], transpose_b=True) + self.down[k]
            z = z if k == 0 else tf.nn.gelu(z)
        return z

    def call(self, x, training=False):
        if training:
            x = x + self.noise * tf.random.normal(tf.shape(x))
        return self.decode(self.encode(x))


class Accumulator:
    def __init__(self, variables):
        self.variables = list(variables)
        self.sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in self.variables]

    def add(self, grads):
        for s, g in zip(self.sums, grads):
            s.assign_add(g / GROUPS)

    def flush(self, optimizer):
        optimizer.apply_gradients(zip([s.value() for s in self.sums], self.variables))
        for s in self.sums:
            s.assign(tf.zeros_like(s))


def main():
    keras.utils.set_random_seed(19)
    x = (load_digits().data / 16.0).astype("float32")
    x_tr, x_te = train_test_split(x, test_size=0.3, random_state=0)
    centre = x_tr.mean(0)
    x_tr, x_te = x_tr - centre, x_te - centre

    net = TiedAutoencoder([64, 128, 64, CODE])
    # the loss is a mean over 64 pixels, hence tiny gradients and a rate above one
    rate = keras.optimizers.schedules.PiecewiseConstantDecay([700, 1000], [1.5, 0.5, 0.15])
    optimizer = keras.optimizers.SGD(rate, momentum=0.9, nesterov=True)
    optimizer.build(net.trainable_variables)
    bank = Accumulator(net.trainable_variables)

    @tf.function
    def micro_step(batch):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(net(batch, training=True) - batch))
        bank.add(tape.gradient(loss, bank.variables))
        return loss

    @tf.function
    def apply():
        bank.flush(optimizer)

    ds = (tf.data.Dataset.from_tensor_slices(x_tr).shuffle(len(x_tr), seed=1)
          .repeat().batch(MICRO).prefetch(2))
    running = []
    for k, batch in enumerate(ds.take(1200 * GROUPS), start=1):
        running.append(float(micro_step(batch)))
        if k % GROUPS == 0:
            apply()
        if k % (300 * GROUPS) == 0:
            print(f"update {k // GROUPS:5d}  noisy loss {np.mean(running):.5f}  "
                  f"rate {float(optimizer.learning_rate):.2f}")
            running.clear()

    mse = lambda a: float(np.mean((a - x_te) ** 2))
    pca = PCA(CODE).fit(x_tr)
    print(f"held-out MSE: autoencoder {mse(net(x_te).numpy()):.5f}  "
          f"PCA-{CODE} {mse(pca.inverse_transform(pca.transform(x_te))):.5f}  mean image {mse(0 * x_te):.5f}")


if __name__ == "__main__":
    main()
