from dataclasses import dataclass

import numpy as np
import tensorflow as tf
import keras
from keras import layers


@dataclass
class Settings:
    hours: int = 24 * 120
    window: int = 24
    micro_batch: int = 16
    accumulate: int = 4
    epochs: int = 8
    lr: float = 4e-3
    seed: int = 33


def load_curve(cfg):
    rng = np.random.default_rng(cfg.seed)
    t = np.arange(cfg.hours)
    daily = 8 * np.sin(2 * np.pi * t / 24) + 3 * np.sin(4 * np.pi * t / 24 + 1)
    weekly = np.where((t // 24) % 7 >= 5, -5.0, 0.0)
    noise = np.zeros(cfg.hours)
    for i in range(1, cfg.hours):
        noise[i] = 0.85 * noise[i - 1] + rng.normal(0, 0.8)
    return (50 + daily + weekly + noise).astype("float32")


def windows(series, width):
    x = np.lib.stride_tricks.sliding_window_view(series[:-1], width)[..., None]
    return x.astype("float32"), series[width:, None].astype("float32")


class AccumulatingTrainer:
    def __init__(self, model, cfg):
        self.model, self.cfg = model, cfg
        self.opt = keras.optimizers.Adam(cfg.lr)
        self.buffers = [tf.Variable(tf.zeros_like(v), trainable=False)
                        for v in model.trainable_variables]
        self.count = 0

    @tf.function
    def _backward(self, x, y):
        with tf.GradientTape() as tape:
            err = self.model(x, training=True) - y
            total = tf.reduce_sum(tf.square(err))
            scaled = total / (self.cfg.micro_batch * self.cfg.accumulate)
        for buf, g in zip(self.buffers, tape.gradient(scaled, self.model.trainable_variables)):
            buf.assign_add(g)
        return total

    @tf.function
    def _update(self):
        self.opt.apply_gradients(zip(self.buffers, self.model.trainable_variables))
        for buf in self.buffers:
            buf.assign(tf.zeros_like(buf))

    def run_epoch(self, ds):
        total, seen = 0.0, 0
        for x, y in ds:
            total += float(self._backward(x, y))
            seen += len(x)
            self.count += 1
            if self.count % self.cfg.accumulate == 0:
                self._update()
        return total / seen


cfg = Settings()
keras.utils.set_random_seed(cfg.seed)
series = load_curve(cfg)
cut = int(len(series) * 0.8)
mean, std = series[:cut].mean(), series[:cut].std()
scaled = (series - mean) / std
x_tr, y_tr = windows(scaled[:cut], cfg.window)
x_te, y_te = windows(scaled[cut:], cfg.window)

model = keras.Sequential([
    keras.Input((cfg.window, 1)),
    layers.LSTM(24),
    layers.Dense(1),
])
trainer = AccumulatingTrainer(model, cfg)
ds = tf.data.Dataset.from_tensor_slices((x_tr, y_tr)).shuffle(len(x_tr))
ds = ds.batch(cfg.micro_batch, drop_remainder=True)
for epoch in range(cfg.epochs):
    print(f"epoch {epoch} train mse {trainer.run_epoch(ds):.4f}")

pred = model.predict(x_te, verbose=0)
mae = np.abs(pred - y_te).mean() * std
naive = np.abs(x_te[:, -1] - y_te).mean() * std
print(f"test MAE {mae:.3f}  naive last-value MAE {naive:.3f}  series std {std:.2f}")
