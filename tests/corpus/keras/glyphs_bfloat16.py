"""Handwritten digits with bfloat16 compute, big-step SGD and label smoothing."""
import argparse

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


@keras.saving.register_keras_serializable()
class LinearWarmupCosine(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warmup, total):
        self.peak, self.warmup, self.total = peak, warmup, total

    def __call__(self, step):
        step = ops.cast(step, "float32")
        ramp = step / self.warmup
        frac = ops.clip((step - self.warmup) / (self.total - self.warmup), 0.0, 1.0)
        cosine = 0.5 * (1.0 + ops.cos(np.pi * frac))
        return self.peak * ops.where(step < self.warmup, ramp, cosine)

    def get_config(self):
        return dict(peak=self.peak, warmup=self.warmup, total=self.total)


class RandomShift(layers.Layer):
    """Moves the glyph by at most one pixel, only while training."""

    def call(self, x, training=False):
        if not training:
            return x
        padded = tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]])
        return tf.image.random_crop(padded, tf.shape(x))


def scaled_standardise(w):
    mean = ops.mean(w, axis=(0, 1, 2), keepdims=True)
    var = ops.var(w, axis=(0, 1, 2), keepdims=True)
    fan_in = float(np.prod(w.shape[:-1]))
    return (w - mean) / ops.sqrt(var * fan_in + 1e-4)


class WSConv(layers.Conv2D):
    """Convolution with weight standardisation, used together with GroupNorm."""

    def call(self, x):
        w = ops.cast(scaled_standardise(self.kernel), self.compute_dtype)
        y = ops.conv(x, w, strides=self.strides, padding=self.padding)
        return y + ops.cast(self.bias, self.compute_dtype)


def build(width):
    inp = keras.Input((8, 8, 1))
    h = RandomShift()(inp)
    for i, w in enumerate((width, 2 * width)):
        h = WSConv(w, 3, padding="same")(h)
        h = layers.GroupNormalization(groups=4)(h)
        h = layers.Activation("relu")(h)
        if i == 0:
            h = layers.MaxPooling2D()(h)
    h = layers.Flatten()(h)
    h = layers.Dropout(0.25)(h)
    out = layers.Dense(10, dtype="float32", kernel_initializer="zeros")(h)
    return keras.Model(inp, out)


def main(argv=None):
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=12)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--peak-lr", type=float, default=0.2)
    p.add_argument("--width", type=int, default=16)
    a = p.parse_args(argv)

    keras.utils.set_random_seed(77)
    keras.mixed_precision.set_global_policy("mixed_bfloat16")

    x, y = load_digits(return_X_y=True)
    x = (x.reshape(-1, 8, 8, 1) / 16.0).astype("float32")
    y = keras.utils.to_categorical(y, 10)
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=400, random_state=0)
    x_tr, x_va, y_tr, y_va = train_test_split(x_tr, y_tr, test_size=200, random_state=0)

    steps = int(np.ceil(len(x_tr) / a.batch)) * a.epochs
    model = build(a.width)
    model.compile(
        optimizer=keras.optimizers.SGD(
            LinearWarmupCosine(a.peak_lr, steps // 10, steps),
            momentum=0.9, nesterov=True, global_clipnorm=2.0),
        loss=keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1),
        metrics=["accuracy"],
    )
    model.fit(x_tr, y_tr, validation_data=(x_va, y_va),
              batch_size=a.batch, epochs=a.epochs, verbose=2)
    loss, acc = model.evaluate(x_te, y_te, verbose=0)
    floor = -(0.91 * np.log(0.91) + 9 * 0.01 * np.log(0.01))
    print(f"test accuracy {acc:.3f} (chance 0.1), loss {loss:.3f}, "
          f"lowest reachable smoothed loss {floor:.3f}")


if __name__ == "__main__":
    main()
