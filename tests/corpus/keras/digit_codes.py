"""Autoencoder with tied weights (decoder uses the transposed encoder matrices) on 8x8 digits."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(14)
CODE = 8


class TiedDense(layers.Layer):
    """Dense layer that borrows the transposed kernel of another one; only the bias is its own."""

    def __init__(self, source, activation=None, **kw):
        super().__init__(**kw)
        self.source = source
        self.activation = keras.activations.get(activation)

    def build(self, input_shape):
        self.offset = self.add_weight(
            shape=(self.source.kernel.shape[0],), initializer="zeros", name="offset")

    def call(self, h):
        return self.activation(tf.matmul(h, self.source.kernel, transpose_b=True) + self.offset)


class TiedAutoencoder(keras.Model):
    def __init__(self):
        super().__init__()
        self.e1 = layers.Dense(96, activation="selu", kernel_initializer="lecun_normal")
        self.e2 = layers.Dense(CODE)
        self.e1.build((None, 64))
        self.e2.build((None, 96))
        self.d2 = TiedDense(self.e2, "selu")
        self.d1 = TiedDense(self.e1)

    def encode(self, x):
        return self.e2(self.e1(x))

    def call(self, x, training=False):
        noisy = x + tf.random.normal(tf.shape(x), stddev=0.1) if training else x
        return self.d1(self.d2(self.encode(noisy)))


def per_image_sse(y_true, y_pred):
    # summed over the 64 pixels, so values well above 1 are normal
    return tf.reduce_sum(tf.square(y_true - y_pred), axis=-1)


x, y = load_digits(return_X_y=True)
x = (x / 16.0).astype("float32")
x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.25, stratify=y, random_state=2)
centre = x_tr.mean(0)
x_tr, x_te = x_tr - centre, x_te - centre

model = TiedAutoencoder()
model.compile(optimizer=keras.optimizers.Nadam(2e-3), loss=per_image_sse)
plateau = keras.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.3, patience=4, min_lr=1e-5)
hist = model.fit(x_tr, x_tr, batch_size=32, epochs=40, callbacks=[plateau], verbose=0)
for e in range(0, 40, 5):
    print(f"epoch {e + 1:2d} train SSE {hist.history['loss'][e]:.3f}")

n_unique = len({id(w) for w in model.trainable_weights})
print("trainable tensors:", n_unique)

recon = model.predict(x_te, verbose=0)
sse = float(np.mean(np.sum((recon - x_te) ** 2, 1)))
base = float(np.mean(np.sum(x_te ** 2, 1)))
pca = PCA(CODE).fit(x_tr)
pca_sse = float(np.mean(np.sum((pca.inverse_transform(pca.transform(x_te)) - x_te) ** 2, 1)))
print(f"test SSE per image: model {sse:.3f}, PCA-{CODE} {pca_sse:.3f}, mean image {base:.3f}")

probe = LogisticRegression(max_iter=2000).fit(model.encode(x_tr).numpy(), y_tr)
print(f"linear probe on codes, test accuracy {probe.score(model.encode(x_te).numpy(), y_te):.4f}")
