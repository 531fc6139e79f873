import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras
from keras import layers


def oven_log(n_runs, seed):
    rng = np.random.default_rng(seed)
    windows, nxt = [], []
    for _ in range(n_runs):
        goal = rng.uniform(0.4, 1.0)
        speed = rng.uniform(0.04, 0.12)
        t = np.arange(90)
        heat = goal * (1 - np.exp(-speed * t)) * (1 + 0.05 * np.sin(t / 5))
        heat[60:] = heat[60] * np.exp(-speed * (t[60:] - 60))
        heat = heat + rng.normal(0, 0.008, heat.shape)
        for s in range(0, 90 - 21, 3):
            windows.append(heat[s:s + 20])
            nxt.append(heat[s + 21])
    return np.array(windows, "float32")[..., None], np.array(nxt, "float32")


class Forecaster(keras.Model):
    def __init__(self, units=24):
        super().__init__()
        self.conv = layers.Conv1D(units, 5, activation="relu")
        self.rnn = layers.GRU(units)
        self.out = layers.Dense(1)
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.mae = keras.metrics.MeanAbsoluteError(name="mae")

    @property
    def metrics(self):
        return [self.loss_tracker, self.mae]

    def call(self, x, training=False):
        return self.out(self.rnn(self.conv(x)))

    def smooth_l1(self, y, pred, delta=0.1):
        err = tf.abs(y - pred)
        return tf.reduce_mean(tf.where(err < delta, 0.5 * err ** 2 / delta, err - 0.5 * delta))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            pred = self(x, training=True)
            loss = self.smooth_l1(y, pred)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        self.mae.update_state(y, pred[:, 0])
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        self.mae.update_state(y, self(x, training=False)[:, 0])
        return {"mae": self.mae.result()}


keras.utils.set_random_seed(2)
x_train, y_train = oven_log(60, seed=1)
x_val, y_val = oven_log(15, seed=99)
model = Forecaster()
model.compile(optimizer=keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(5e-3, 12 * 44)))
model.fit(x_train, y_train, batch_size=32, epochs=12, validation_data=(x_val, y_val), verbose=2)
print("val mae %.4f   (always the mean: %.4f)" % (
    np.abs(model.predict(x_val, verbose=0)[:, 0] - y_val).mean(), np.abs(y_val - y_train.mean()).mean()))
