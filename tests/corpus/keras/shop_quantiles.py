"""Daily shop demand: three quantiles at once, with sharpness-aware steps in train_step."""
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

os.makedirs("out", exist_ok=True)
keras.utils.set_random_seed(6)
QUANTILES = (0.1, 0.5, 0.9)


def history(n_days=420, n_shops=12, seed=0):
    rng = np.random.default_rng(seed)
    rows = []
    for s in range(n_shops):
        base, wk, promo_gain = rng.uniform(2.5, 4.5), rng.uniform(0.1, 0.5), rng.uniform(0.3, 0.7)
        promo = rng.random(n_days) < 0.15
        temp = 12 + 9 * np.sin(2 * np.pi * (np.arange(n_days) - 100) / 365) + rng.normal(0, 3, n_days)
        for d in range(n_days):
            weekend = d % 7 >= 5
            mu = base + wk * weekend + promo_gain * promo[d] + 0.015 * (temp[d] - 12)
            scale = 0.12 + 0.2 * promo[d]
            sales = np.exp(mu + rng.normal(0, scale))
            rows.append((d, s, d % 7, promo[d], temp[d], sales))
    return np.array(rows, dtype="float32")


def pinball(y, q_hat):
    q = tf.constant(QUANTILES)
    err = y - q_hat
    return tf.reduce_sum(tf.maximum(q * err, (q - 1) * err), axis=-1)


class Coverage(keras.metrics.Metric):
    """Share of the true values inside the outer band (aim: 0.8)."""

    def __init__(self, name="coverage", **kw):
        super().__init__(name=name, **kw)
        self.inside = self.add_weight(name="inside", initializer="zeros")
        self.count = self.add_weight(name="count", initializer="zeros")

    def update_state(self, y, q_hat, sample_weight=None):
        y = tf.reshape(y, (-1, 1))
        ok = tf.logical_and(y[:, 0] >= q_hat[:, 0], y[:, 0] <= q_hat[:, 2])
        self.inside.assign_add(tf.reduce_sum(tf.cast(ok, "float32")))
        self.count.assign_add(tf.cast(tf.shape(y)[0], "float32"))

    def result(self):
        return self.inside / tf.maximum(self.count, 1.0)

    def reset_state(self):
        self.inside.assign(0.0)
        self.count.assign(0.0)


class SAMModel(keras.Model):
    rho = 0.05

    def train_step(self, data):
        x, y, w = keras.utils.unpack_x_y_sample_weight(data)
        tv = self.trainable_variables
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x=x, y=y, y_pred=self(x, training=True), sample_weight=w)
        grads = tape.gradient(loss, tv)
        scale = self.rho / (tf.linalg.global_norm(grads) + 1e-12)
        lifts = [tf.convert_to_tensor(g) * scale for g in grads]
        for v, e in zip(tv, lifts):
            v.assign_add(e)
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            climbed = self.compute_loss(x=x, y=y, y_pred=y_pred, sample_weight=w)
        grads = [tf.convert_to_tensor(g) for g in tape.gradient(climbed, tv)]
        for v, e in zip(tv, lifts):
            v.assign_sub(e)
        self.optimizer.apply_gradients(zip(grads, tv))
        for m in self.metrics:
            m.update_state(loss) if m.name == "loss" else m.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}


def build(n_shops):
    shop, day = keras.Input((1,), dtype="int32", name="shop"), keras.Input((1,), dtype="int32", name="day")
    num = keras.Input((2,), name="num")
    x = layers.Concatenate()([layers.Flatten()(layers.Embedding(n_shops, 6)(shop)), layers.Flatten()(layers.Embedding(7, 3)(day)), num])
    for _ in range(2):
        x = layers.Dense(64, activation="swish")(x)
    mid = layers.Dense(1, kernel_initializer="zeros")(x)
    gaps = layers.Dense(2, activation="softplus", kernel_initializer="zeros", bias_initializer=keras.initializers.Constant(-1.0))(x)
    out = layers.Lambda(lambda t: tf.concat([t[0] - t[1][:, :1], t[0], t[0] + t[1][:, 1:]], 1))([mid, gaps])
    return SAMModel([shop, day, num], out)


rows = history()
train, test = rows[rows[:, 0] < 340], rows[rows[:, 0] >= 340]
m, s = np.log(train[:, 5]).mean(), np.log(train[:, 5]).std()
pack = lambda r: ([r[:, 1:2].astype("int32"), r[:, 2:3].astype("int32"), np.stack([r[:, 3], (r[:, 4] - 12) / 8], 1)], ((np.log(r[:, 5:]) - m) / s))
x_tr, y_tr = pack(train)
x_te, y_te = pack(test)
recent = (0.5 ** ((340 - train[:, 0]) / 240)).astype("float32")

model = build(12)
model.compile(keras.optimizers.SGD(keras.optimizers.schedules.CosineDecay(0.3, 64 * 14), momentum=0.9, nesterov=True), loss=pinball, metrics=[Coverage()])
model.fit(x_tr, y_tr, sample_weight=recent / recent.mean(), batch_size=64, epochs=14, validation_data=(x_te, y_te), verbose=2)
q = model.predict(x_te, verbose=0)
flat = np.tile(np.quantile(y_tr, QUANTILES), (len(y_te), 1)).astype("float32")
score = lambda z: float(tf.reduce_mean(pinball(y_te, z)))
inside = np.mean((y_te[:, 0] >= q[:, 0]) & (y_te[:, 0] <= q[:, 2]))
print(f"held-out pinball {score(q):.3f} (constant quantiles {score(flat):.3f}), coverage of the 80 % band {inside:.3f}")
