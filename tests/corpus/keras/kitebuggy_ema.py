import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
import keras
from keras import layers


@dataclass
class Settings:
    rows: int = 3000
    batch: int = 64
    epochs: int = 14
    lr: float = 3e-3
    decay: float = 0.98
    seed: int = 21


S = Settings()
keras.utils.set_random_seed(S.seed)
rng = np.random.default_rng(S.seed)


def sail_data(n):
    """wind speed, wind angle, kite size, rider weight, slope -> speed of the buggy"""
    x = rng.uniform(-1, 1, (n, 5)).astype("float32")
    v = 2.0 * x[:, 0] * np.cos(2 * x[:, 1]) + np.tanh(3 * x[:, 2]) - 0.8 * x[:, 3] ** 2 + 0.5 * x[:, 4]
    return x, (v + rng.normal(0, 0.1, n)).astype("float32")[:, None]


def make_net():
    return keras.Sequential([keras.Input((5,)), layers.Dense(48, activation="gelu"),
                             layers.Dense(48, activation="gelu"), layers.Dense(1)])


class Averager:
    def __init__(self, source, decay):
        self.net = make_net()
        self.net.set_weights(source.get_weights())
        self.decay = decay

    def update(self, source):
        for slow, fast in zip(self.net.weights, source.weights):
            slow.assign(self.decay * slow + (1.0 - self.decay) * fast)


x, y = sail_data(S.rows)
xv, yv = sail_data(600)
net = make_net()
ema = Averager(net, S.decay)
opt = keras.optimizers.Adam(S.lr)
mse = keras.losses.MeanSquaredError()


@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        loss = mse(yb, net(xb, training=True))
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, ema.net.trainable_variables))
    ema.update(net)
    return loss


ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(S.rows, seed=S.seed).batch(S.batch, drop_remainder=True)
for epoch in range(1, S.epochs + 1):
    losses = [float(step(xb, yb)) for xb, yb in ds]
    print(f"epoch {epoch:2d}  train mse {np.mean(losses):.4f}")


def r2(pred):
    return 1 - float(np.mean((pred - yv) ** 2) / yv.var())


print(f"R2 raw {r2(net(xv).numpy()):.3f}  R2 averaged {r2(ema.net(xv).numpy()):.3f}")
