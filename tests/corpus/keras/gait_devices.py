"""Activity from accelerometer windows, meant for phones never seen before: the device head is fed
through a reversed gradient. Hand-made attention, a fixed filter bank, and closing epochs at rate 0."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

ACTS, T = 5, 64


@tf.custom_gradient
def flip(x, lam):
    return tf.identity(x), lambda g: (-lam * g, None)


class Reversal(layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.lam = self.add_weight(shape=(), initializer="zeros", trainable=False, name="lam")

    def call(self, x):
        return flip(x, tf.convert_to_tensor(self.lam))


class HeadedAttention(layers.Layer):
    def __init__(self, d, heads, **kw):
        super().__init__(**kw)
        self.d, self.h = d, heads
        self.q, self.k, self.v, self.o = (layers.Dense(d, use_bias=False) for _ in range(4))

    def split(self, x):           # (b, t, d) -> (b, h, t, d/h)
        b, t = ops.shape(x)[0], x.shape[1]
        return ops.transpose(ops.reshape(x, (b, t, self.h, self.d // self.h)), (0, 2, 1, 3))

    def call(self, x):
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        w = ops.softmax(ops.matmul(q, ops.swapaxes(k, -1, -2)) / np.sqrt(self.d // self.h), axis=-1)
        y = ops.transpose(ops.matmul(w, v), (0, 2, 1, 3))
        return self.o(ops.reshape(y, (ops.shape(x)[0], x.shape[1], self.d)))


def gabor(n=24, width=16):
    """fixed quadrature filters at 12 speeds, one copy for each of the 3 axes"""
    t = np.arange(width) - width / 2
    f = np.repeat(np.linspace(0.02, 0.35, n // 2), 2)
    ph = np.tile([0, np.pi / 2], n // 2)
    k = np.cos(2 * np.pi * f * t[:, None] + ph) * np.hanning(width)[:, None]
    return np.repeat(k[:, None, :] / 4, 3, axis=1).astype("float32") * np.array([1, .6, .3], "float32")[None, :, None]


def record(devices, per, seed):
    rng = np.random.default_rng(seed)
    xs, ys, ds = [], [], []
    for d in devices:
        g = np.random.default_rng(1000 + d)
        gain, off = g.uniform(0.6, 1.6, 3), g.normal(0, 0.8, 3)
        hum, hf = g.uniform(0.2, 0.9), g.uniform(0.26, 0.4)
        for _ in range(per):
            a, t = rng.integers(ACTS), np.arange(T)
            f = (0.03, 0.06, 0.1, 0.15, 0.2)[a] * rng.uniform(0.88, 1.12)
            amp = rng.uniform(0.5, 1.2)
            wave = np.stack([amp * np.sin(2 * np.pi * f * t + rng.uniform(0, 6.3)) for _ in range(3)], 1)
            x = (wave + rng.normal(0, 0.7, (T, 3))) * gain + off + hum * np.sin(2 * np.pi * hf * t)[:, None]
            xs.append(x), ys.append(a), ds.append(d)
    return np.float32(xs), np.array(ys), np.array(ds)


def build(devices):
    inp = keras.Input((T, 3))
    bank = layers.Conv1D(24, 16, strides=4, use_bias=False, trainable=False, name="bank")
    x = layers.BatchNormalization()(bank(inp))
    bank.set_weights([gabor()])
    x = layers.Dense(32, activation="relu")(x)
    x = layers.LayerNormalization()(x + HeadedAttention(32, 4)(x))
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.BatchNormalization(momentum=0.9)(layers.Dense(32)(x))
    x = layers.Activation("relu")(x)
    act = layers.Dense(ACTS, activation="softmax", name="act")(x)
    dev = layers.Dense(24, activation="relu")(Reversal(name="rev")(x))
    dev = layers.Dense(devices, activation="softmax", name="dev")(dev)
    return keras.Model(inp, {"act": act, "dev": dev})


def main(epochs=16, rest=2):
    keras.utils.set_random_seed(1)
    x, y, d = record(range(8), 250, 0)
    xt, yt, _ = record(range(20, 26), 150, 1)
    model = build(8)
    model.compile(keras.optimizers.Adam(), loss="sparse_categorical_crossentropy",
                  metrics={"act": "accuracy", "dev": "accuracy"})
    rev = model.get_layer("rev")
    # the last two epochs change no weight, they only let the moving averages of BatchNorm settle
    rate = keras.callbacks.LearningRateScheduler(
        lambda e: 4e-3 * 0.5 * (1 + np.cos(np.pi * e / (epochs - rest))) if e < epochs - rest else 0.0)
    ramp = keras.callbacks.LambdaCallback(on_epoch_begin=lambda e, logs: rev.lam.assign(min(0.5, 0.06 * e)))
    h = model.fit(x, {"act": y, "dev": d}, epochs=epochs, batch_size=64, verbose=0, callbacks=[rate, ramp]).history
    for e in range(0, epochs, 3):
        print(f"epoch {e:2d} rate {h['learning_rate'][e]:.4f} activity {h['act_accuracy'][e]:.3f} device {h['dev_accuracy'][e]:.3f}")
    got = model.predict(xt, verbose=0)["act"].argmax(1)
    print(f"new phones: accuracy {np.mean(got == yt):.3f}, majority {np.bincount(yt).max() / len(yt):.3f}")


if __name__ == "__main__":
    main()
