"""Denoising autoencoder on digits: decoder reuses the encoder matrix transposed; corruption grows over epochs."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import keras
from keras import layers, ops
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split


class TransposedDense(layers.Layer):
    def __init__(self, source, activation=None, **kw):
        super().__init__(**kw)
        self.source = source
        self.act = keras.activations.get(activation)

    def build(self, shape):
        self.bias = self.add_weight(shape=(self.source.kernel.shape[0],), initializer="zeros", name="bias")

    def call(self, x):
        return self.act(ops.matmul(x, ops.transpose(self.source.kernel)) + self.bias)


class Corrupt(layers.Layer):
    """Masking noise whose rate is a non-trainable variable, driven from outside."""

    def __init__(self, **kw):
        super().__init__(**kw)
        self.rate = self.add_weight(shape=(), initializer="zeros", trainable=False, name="rate")
        self.seed = keras.random.SeedGenerator(3)

    def call(self, x, training=False):
        if not training:
            return x
        keep = keras.random.uniform(ops.shape(x), seed=self.seed) >= self.rate
        return x * ops.cast(keep, x.dtype)


class Ramp(keras.callbacks.Callback):
    def __init__(self, layer, top, epochs):
        super().__init__()
        self.layer, self.top, self.epochs = layer, top, epochs

    def on_epoch_begin(self, epoch, logs=None):
        self.layer.rate.assign(self.top * min(1.0, epoch / (0.6 * self.epochs)))

    def on_epoch_end(self, epoch, logs=None):
        if epoch % 8 == 7:
            print(f"epoch {epoch + 1:2d} mask {float(self.layer.rate.numpy()):.2f} "
                  f"train bce {logs['loss']:.4f} clean val bce {logs['val_loss']:.4f}")


def main():
    keras.utils.set_random_seed(14)
    d = load_digits()
    x = (d.data / 16.0).astype("float32")
    x_tr, x_te, y_tr, y_te = train_test_split(x, d.target, test_size=0.3, random_state=0, stratify=d.target)

    epochs = 40
    inp = keras.Input((64,))
    corrupt = Corrupt()
    enc1 = layers.Dense(96, activation="relu")
    enc2 = layers.Dense(20, activation="linear", name="code")
    h = enc2(enc1(corrupt(inp)))
    dec2 = TransposedDense(enc2, "relu")
    dec1 = TransposedDense(enc1, "sigmoid")
    ae = keras.Model(inp, dec1(dec2(h)))
    coder = keras.Model(inp, h)

    ae.compile(optimizer=keras.optimizers.RMSprop(2e-3, momentum=0.5), loss="binary_crossentropy")
    # the input itself is the target: there is no label in this stage
    ae.fit(x_tr, x_tr, validation_data=(x_te, x_te), epochs=epochs, batch_size=32, verbose=0,
           callbacks=[Ramp(corrupt, 0.35, epochs)])

    rng = np.random.default_rng(1)
    holes = x_te * (rng.random(x_te.shape) > 0.3)
    mse_in = np.mean((holes - x_te) ** 2)
    mse_out = np.mean((ae.predict(holes, verbose=0) - x_te) ** 2)
    mean_mse = np.mean((x_tr.mean(0) - x_te) ** 2)
    print(f"restoring 30% holes: mse {mse_out:.4f}  corrupted {mse_in:.4f}  mean image {mean_mse:.4f}")

    few = np.random.default_rng(2).choice(len(x_tr), 150, replace=False)
    z_tr, z_te = coder.predict(x_tr, verbose=0), coder.predict(x_te, verbose=0)
    probe = LogisticRegression(max_iter=2000).fit(z_tr[few], y_tr[few])
    print(f"probe on 20-d codes, 150 labels: held-out accuracy {probe.score(z_te, y_te):.3f} (chance 0.1)")


if __name__ == "__main__":
    main()
