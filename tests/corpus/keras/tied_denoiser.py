"""Denoising autoencoder on the 8x8 digits whose decoder reuses the encoder's matrices."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers, ops
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

keras.utils.set_random_seed(12)


class Untie(layers.Layer):
    """Transpose of an already built Dense layer; owns nothing but a bias."""

    def __init__(self, dense, activation=None, **kw):
        super().__init__(**kw)
        self._source = [dense]
        self.act = keras.activations.get(activation)

    def build(self, shape):
        self.bias = self.add_weight(shape=(self._source[0].kernel.shape[0],), initializer="zeros", name="bias")

    def call(self, h):
        return self.act(ops.matmul(h, ops.transpose(self._source[0].kernel)) + self.bias)


class TiedAE(keras.Model):
    def __init__(self, n_in, hidden=96, code=24):
        super().__init__()
        self.e1 = layers.Dense(hidden, activation="elu")
        self.e2 = layers.Dense(code)
        self.e1.build((None, n_in))
        self.e2.build((None, hidden))
        self.d2 = Untie(self.e2, "elu")
        self.d1 = Untie(self.e1, "sigmoid")
        self.loss_tracker = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.loss_tracker]

    def call(self, x):
        return self.d1(self.d2(self.e2(self.e1(x))))

    def corrupt(self, x):
        x = x + tf.random.normal(tf.shape(x), stddev=0.25)
        return x * tf.cast(tf.random.uniform(tf.shape(x)) > 0.2, x.dtype)

    def train_step(self, x):
        with tf.GradientTape() as tape:
            out = self(self.corrupt(x), training=True)
            # pixel values are intensities in [0, 1], so the cross-entropy never reaches zero
            loss = tf.reduce_mean(tf.reduce_sum(keras.losses.binary_crossentropy(x[..., None], out[..., None]), -1))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}


def main():
    x = (load_digits().data / 16.0).astype("float32")
    rng = np.random.default_rng(0)
    x = x[rng.permutation(len(x))]
    train, test = x[:1400], x[1400:]
    noisy = test + rng.normal(0, 0.25, test.shape).astype("float32")
    noisy *= rng.random(test.shape) > 0.2

    model = TiedAE(64)
    model.compile(optimizer=keras.optimizers.RMSprop(2e-3, rho=0.95))
    ds = tf.data.Dataset.from_tensor_slices(train).shuffle(1400).batch(50)
    hist = model.fit(ds, epochs=50, verbose=0)
    for e in (0, 9, 24, 49):
        print(f"epoch {e + 1} loss {hist.history['loss'][e]:.3f}")
    print("trainable tensors:", [tuple(v.shape) for v in model.trainable_variables])

    clean = model.predict(noisy, verbose=0)
    pca = PCA(24).fit(train)
    lin = pca.inverse_transform(pca.transform(noisy))

    def mse(a):
        return float(np.mean((a - test) ** 2))

    print(f"held-out mse: noisy {mse(noisy):.4f}  mean image {mse(train.mean(0)):.4f}  "
          f"pca {mse(lin):.4f}  autoencoder {mse(clean):.4f}")


if __name__ == "__main__":
    main()
