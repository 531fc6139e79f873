"""Denoising autoencoder on grey digits, noise raised by a callback, novelty score at the end."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import keras
from keras import layers, ops
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

keras.utils.set_random_seed(12)


class Grain(layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.level = self.add_weight(name="level", shape=(), initializer="zeros", trainable=False)
        self.rng = keras.random.SeedGenerator(7)

    def call(self, x, training=False):
        if not training:
            return x
        return x + self.level * keras.random.normal(ops.shape(x), seed=self.rng)


class RaiseGrain(keras.callbacks.Callback):
    def __init__(self, grain, top=0.3, epochs=25):
        super().__init__()
        self.grain, self.top, self.epochs = grain, top, epochs

    def on_epoch_begin(self, epoch, logs=None):
        self.grain.level.assign(self.top * min(1.0, epoch / self.epochs))

    def on_epoch_end(self, epoch, logs=None):
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1}: grain {float(self.grain.level):.3f} loss {logs['loss']:.4f} "
                  f"val {logs['val_loss']:.4f}")


def pixel_bce(y, z):
    per_pixel = ops.maximum(z, 0.0) - z * y + ops.log1p(ops.exp(-ops.abs(z)))
    return ops.sum(per_pixel, axis=-1)


def entropy_floor(x):
    p = np.clip(x, 1e-7, 1 - 1e-7)
    return float(-(p * np.log(p) + (1 - p) * np.log(1 - p)).sum(1).mean())


digits = load_digits()
x = (digits.data / 16.0).astype("float32")
known = digits.target != 9
rng = np.random.default_rng(0)
order = rng.permutation(np.flatnonzero(known))
train, val, test = x[order[:1200]], x[order[1200:1350]], x[order[1350:]]
novel = x[~known]

grain = Grain()
codec = keras.Sequential([
    keras.Input((64,)), grain,
    layers.Dense(96, activation="relu"),
    layers.Dense(12),
    layers.Dense(96, activation="relu"),
    layers.Dense(64),
])
codec.compile(keras.optimizers.Adam(2e-3), loss=pixel_bce)
codec.fit(train, train, validation_data=(val, val), epochs=40, batch_size=64, verbose=0,
          callbacks=[RaiseGrain(grain)])

z = codec.predict(test, verbose=0)
rec = 1 / (1 + np.exp(-z))
mean_img = train.mean(0)
print(f"test loss {codec.evaluate(test, test, verbose=0):.3f}  (entropy of the grey values {entropy_floor(test):.3f})")
print(f"reconstruction MSE {np.mean((rec - test) ** 2):.4f}  (mean image {np.mean((mean_img - test) ** 2):.4f})")


def error(a):
    return np.mean((1 / (1 + np.exp(-codec.predict(a, verbose=0))) - a) ** 2, axis=1)


label = np.r_[np.zeros(len(test)), np.ones(len(novel))]
print(f"novelty AUC for the unseen digit {roc_auc_score(label, np.r_[error(test), error(novel)]):.4f}")
