"""Hourly bike hire counts with a Poisson model and our own training step."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras
from keras import layers


class CountModel(keras.Model):
    def __init__(self, hidden=64):
        super().__init__()
        self.d1 = layers.Dense(hidden, activation="relu")
        self.d2 = layers.Dense(hidden, activation="relu")
        self.rate = layers.Dense(1, activation="softplus")
        self.loss_fn = keras.losses.Poisson()
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.mae = keras.metrics.MeanAbsoluteError(name="mae")

    @property
    def metrics(self):
        return [self.loss_tracker, self.mae]

    def call(self, x):
        return self.rate(self.d2(self.d1(x)))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.loss_fn(y, y_pred)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        self.mae.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        self.mae.update_state(y, self(x, training=False))
        return {"mae": self.mae.result()}


def load(n=5000, seed=0):
    rng = np.random.default_rng(seed)
    hour = rng.integers(0, 24, n)
    temp = rng.normal(15, 7, n)
    rain = rng.random(n) < 0.2
    weekend = rng.random(n) < 2 / 7
    rush = np.exp(-0.5 * ((hour - 8) / 1.5) ** 2) + np.exp(-0.5 * ((hour - 17.5) / 2) ** 2)
    lam = np.exp(0.6 + 2.0 * rush * np.where(weekend, 0.4, 1.0) + 0.04 * (temp - 15) - 0.8 * rain)
    x = np.stack([np.sin(hour * np.pi / 12), np.cos(hour * np.pi / 12),
                  np.sin(hour * np.pi / 6), np.cos(hour * np.pi / 6),
                  (temp - 15) / 7, rain, weekend], axis=1)
    return x.astype("float32"), rng.poisson(lam).astype("float32")[:, None]


if __name__ == "__main__":
    keras.utils.set_random_seed(0)
    x, y = load()
    model = CountModel()
    model.compile(optimizer=keras.optimizers.Adam(2e-3))
    model.fit(x[:4000], y[:4000], epochs=20, batch_size=64,
              validation_data=(x[4000:], y[4000:]), verbose=2)
    pred = model.predict(x[4000:], verbose=0)
    print("mean count, real      %.2f" % y[4000:].mean())
    print("mean count, predicted %.2f" % pred.mean())
    print("test MAE              %.3f" % np.abs(pred - y[4000:]).mean())
    print("MAE of the mean       %.3f" % np.abs(y[:4000].mean() - y[4000:]).mean())
