import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
from dataclasses import dataclass, field
import numpy as np
import tensorflow as tf
import keras


@dataclass
class Config:
    context: int = 72
    horizons: list = field(default_factory=lambda: [1, 3, 6, 12])
    input_dtype: str = "float32"
    label_dtype: str = "float32"
    hidden: int = 64
    lr: float = 2e-3
    batch: int = 64
    epochs: int = 12
    seed: int = 40


def district_heating(cfg, hours=3000):
    rng = np.random.default_rng(cfg.seed)
    t = np.arange(hours)
    temp = np.zeros(hours)
    for i in range(1, hours):
        temp[i] = 0.98 * temp[i - 1] + rng.normal(0, 0.2)
    daily = np.sin(2 * np.pi * t / 24) + 0.5 * np.sin(4 * np.pi * t / 24 + 1)
    return 420 + 55 * daily - 30 * temp + rng.normal(0, 8, hours)


class Windows:
    def __init__(self, series, cfg, train_share=0.8):
        self.cfg = cfg
        split = int(train_share * len(series))
        self.mean, self.std = series[:split].mean(), series[:split].std()
        scaled = (series - self.mean) / self.std
        self.train = self._cut(scaled[:split])
        self.test = self._cut(scaled[split - cfg.context:])
        self.test_load = self._targets(series[split - cfg.context:])

    def _positions(self, s):
        return np.arange(self.cfg.context, len(s) - max(self.cfg.horizons))

    def _targets(self, s):
        pos = self._positions(s)
        return np.stack([s[pos + h - 1] for h in self.cfg.horizons], 1)

    def _cut(self, s):
        x = np.stack([s[p - self.cfg.context:p] for p in self._positions(s)])
        return x.astype(self.cfg.input_dtype), self._targets(s).astype(self.cfg.label_dtype)


class HorizonNet(keras.Model):
    def __init__(self, cfg):
        super().__init__()
        self.body = keras.Sequential([keras.layers.Dense(cfg.hidden, activation="relu"),
                                      keras.layers.Dense(cfg.hidden, activation="relu")])
        self.tracker = keras.metrics.Mean(name="loss")
        self.heads = [keras.layers.Dense(1) for _ in cfg.horizons]

    def call(self, x):
        h = self.body(x)
        return tf.concat([head(h) for head in self.heads], axis=-1)

    @property
    def metrics(self):
        return [self.tracker]

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            pred = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=pred)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}


cfg = Config()
keras.utils.set_random_seed(cfg.seed)
series = district_heating(cfg)
data = Windows(series, cfg)
model = HorizonNet(cfg)
model.compile(optimizer=keras.optimizers.Adam(cfg.lr), loss=keras.losses.MeanSquaredError())
model.fit(*data.train, epochs=cfg.epochs, batch_size=cfg.batch, verbose=2)

forecast = model.predict(data.test[0], verbose=0) * data.std + data.mean
last = data.test[0][:, -1:] * data.std + data.mean
for j, h in enumerate(cfg.horizons):
    truth = data.test_load[:, j]
    print(f"horizon {h:2d} h: MAE {np.abs(forecast[:, j] - truth).mean():6.2f} MW   "
          f"persistence {np.abs(last[:, 0] - truth).mean():6.2f} MW")
print(f"mean MAE {np.abs(forecast - data.test_load).mean():.2f} MW, "
      f"persistence {np.abs(last - data.test_load).mean():.2f} MW")
