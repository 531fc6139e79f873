"""Hotel bookings: one network, two optimizers and two heads (booked or not, nights stayed)."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import math

import numpy as np
import tensorflow as tf
import keras
from keras import layers

N_HOTEL, N_CITY = 300, 40


class CosineRestarts(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, top, period):
        self.top, self.period = top, period

    def __call__(self, step):
        phase = tf.cast(step % self.period, tf.float32) / self.period
        return self.top * (0.05 + 0.95 * 0.5 * (1 + tf.cos(math.pi * phase)))


def log_data(n, seed):
    fixed = np.random.default_rng(100)
    quality, pull = fixed.normal(0, 1.2, N_HOTEL), fixed.normal(0, 0.8, N_CITY)
    rng = np.random.default_rng(seed)
    hotel, city = rng.integers(0, N_HOTEL, n), rng.integers(0, N_CITY, n)
    feats = rng.normal(size=(n, 6)).astype("float32")
    z = quality[hotel] + pull[city] + feats[:, 0] - 0.8 * feats[:, 1] * feats[:, 2]
    booked = (rng.uniform(size=n) < 1 / (1 + np.exp(-1.5 * z))).astype("float32")
    nights = np.exp(0.6 + 0.4 * feats[:, 3] + 0.2 * pull[city] + rng.normal(0, 0.1, n))
    return (hotel.astype("int32"), city.astype("int32"), feats), (booked, (nights * booked).astype("float32"))


class WideDeep(keras.Model):
    def __init__(self):
        super().__init__()
        self.hotel, self.city = layers.Embedding(N_HOTEL, 8), layers.Embedding(N_CITY, 4)
        self.body = keras.Sequential([layers.Dense(64, activation="relu"), layers.Dense(32, activation="relu")])
        self.book_head, self.night_head = layers.Dense(1), layers.Dense(1)
        self.m = {k: keras.metrics.Mean(name=k) for k in ("book", "nights")}

    @property
    def metrics(self):
        return list(self.m.values())

    def compile(self, table_opt, net_opt):
        super().compile(optimizer=net_opt)
        self.table_opt = table_opt

    def call(self, inputs):
        h, c, f = inputs
        z = self.body(tf.concat([self.hotel(h), self.city(c), f], -1))
        return self.book_head(z)[:, 0], self.night_head(z)[:, 0]

    def train_step(self, data):
        x, (booked, nights) = data
        with tf.GradientTape() as tape:
            logit, log_nights = self(x)
            l_book = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(booked, logit))
            # nights are known for booked rows only
            target = tf.math.log(tf.where(booked > 0, nights, 1.0))
            l_night = tf.reduce_sum(booked * tf.square(log_nights - target)) / tf.maximum(tf.reduce_sum(booked), 1.0)
            loss = l_book + 0.5 * l_night
        tables = self.hotel.trainable_variables + self.city.trainable_variables
        rest = (self.body.trainable_variables + self.book_head.trainable_variables
                + self.night_head.trainable_variables)
        g_tables, g_rest = tape.gradient(loss, (tables, rest))
        self.table_opt.apply_gradients(zip(g_tables, tables))
        self.optimizer.apply_gradients(zip(g_rest, rest))
        self.m["book"].update_state(l_book)
        self.m["nights"].update_state(l_night)
        return {k: v.result() for k, v in self.m.items()}


if __name__ == "__main__":
    keras.utils.set_random_seed(17)
    x, y = log_data(20000, 1)
    xt, (bt, nt) = log_data(4000, 2)
    model = WideDeep()
    model(tuple(a[:4] for a in x))
    tables = model.hotel.trainable_variables + model.city.trainable_variables
    table_opt = keras.optimizers.Adagrad(0.2)
    table_opt.build(tables)
    net_opt = keras.optimizers.AdamW(CosineRestarts(4e-3, 320), weight_decay=1e-3)
    net_opt.build(model.body.trainable_variables + model.book_head.trainable_variables
                  + model.night_head.trainable_variables)
    model.compile(table_opt, net_opt)
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(20000).batch(128, drop_remainder=True)
    model.fit(ds, epochs=6, verbose=2)
    logit, ln = (t.numpy() for t in model(xt))
    stay = bt == 1
    print(f"booking accuracy {np.mean((logit > 0) == (bt > 0)):.3f} (majority {max(bt.mean(), 1 - bt.mean()):.3f})")
    print(f"nights rmse in log {np.sqrt(np.mean((ln[stay] - np.log(nt[stay])) ** 2)):.3f}, spread {np.log(nt[stay]).std():.3f}")
