"""Bike-hire demand: station embeddings with Adagrad, the dense part with Adam, gradients summed over micro-batches."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
import keras
from keras import layers

STATIONS, MICRO, ACCUM = 80, 16, 8


def hires(n, rng, station_level, station_tilt):
    s = rng.integers(0, STATIONS, n)
    hour, temp, weekend = rng.uniform(0, 24, n), rng.normal(14, 7, n), rng.random(n) < 2 / 7
    commute = np.exp(-0.5 * ((hour - 8) / 1.5) ** 2) + np.exp(-0.5 * ((hour - 17.5) / 2) ** 2)
    rate = np.exp(0.8 + station_level[s] + station_tilt[s] * np.where(weekend, 0.3, 1.0) * commute + 0.03 * (temp - 14))
    feats = np.stack([np.sin(hour * np.pi / 12), np.cos(hour * np.pi / 12), np.sin(hour * np.pi / 6), np.cos(hour * np.pi / 6),
                      (temp - 14) / 7, weekend], axis=1)
    return s.astype("int32"), feats.astype("float32"), rng.poisson(rate).astype("float32"), rate


class Demand(keras.Model):
    def __init__(self):
        super().__init__()
        self.place = layers.Embedding(STATIONS, 8)
        self.body = keras.Sequential([layers.Dense(64, activation="relu"), layers.Dense(32, activation="relu"), layers.Dense(1)])

    def call(self, inputs):
        s, f = inputs
        return self.body(tf.concat([self.place(s), f], axis=-1))[:, 0]


def poisson_nll(y, log_rate):
    return tf.exp(log_rate) - y * log_rate


class Accumulator:
    def __init__(self, variables):
        self.variables = variables
        self.slots = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in variables]

    def add(self, grads):
        for slot, g in zip(self.slots, grads):
            slot.assign_add(tf.convert_to_tensor(g) / ACCUM)

    def flush(self, optimizer):
        optimizer.apply_gradients([(tf.convert_to_tensor(s), v) for s, v in zip(self.slots, self.variables)])
        for s in self.slots:
            s.assign(tf.zeros_like(s))


def main():
    keras.utils.set_random_seed(51)
    rng = np.random.default_rng(51)
    level, tilt = rng.normal(0, 0.6, STATIONS), rng.normal(0.8, 0.6, STATIONS)
    train, test = hires(16384, rng, level, tilt), hires(4000, rng, level, tilt)
    model = Demand()
    model((train[0][:2], train[1][:2]))
    acc_place, acc_body = Accumulator(model.place.trainable_variables), Accumulator(model.body.trainable_variables)
    opt_place, opt_body = keras.optimizers.Adagrad(0.2), keras.optimizers.Adam(4e-3)

    @tf.function
    def micro_step(s, f, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(poisson_nll(y, model((s, f))))
        gp, gb = tape.gradient(loss, [acc_place.variables, acc_body.variables])
        acc_place.add(gp)
        acc_body.add(gb)
        return loss

    @tf.function
    def update():
        acc_place.flush(opt_place)
        acc_body.flush(opt_body)

    data = tf.data.Dataset.from_tensor_slices(train[:3]).shuffle(16384, seed=1).batch(MICRO, drop_remainder=True)
    for epoch in range(10):
        losses = []
        for i, (s, f, y) in enumerate(data, start=1):
            losses.append(micro_step(s, f, y))
            if i % ACCUM == 0:
                update()
        rate = np.exp(model((test[0], test[1])).numpy())
        dev = lambda r: float(np.mean(r - test[2] * np.log(r)))
        print(f"epoch {epoch + 1:2d} train {np.mean(losses):.4f}  test {dev(rate):.4f}  "
              f"(constant {dev(np.full(4000, train[2].mean())):.4f}, true rate {dev(test[3]):.4f})")


if __name__ == "__main__":
    main()
