"""Quantile forecast of wind power, plain GradientTape: pinball loss on nine levels, gradient
accumulation over four small batches, an EMA copy for scoring and a curriculum on the horizon."""
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(29)
LEVELS = np.linspace(0.1, 0.9, 9).astype("float32")
BACK, AHEAD = 24, 6


def wind(n=6000):
    rng = np.random.default_rng(29)
    w = np.zeros(n)
    vol = np.zeros(n)
    for t in range(1, n):
        vol[t] = 0.95 * vol[t - 1] + 0.1 * rng.normal()
        w[t] = 0.94 * w[t - 1] + 0.25 * np.exp(vol[t]) * rng.normal() + 0.06 * np.sin(2 * np.pi * t / 24)
    speed = 8 + 3 * w
    return (1 / (1 + np.exp(-(speed - 8) / 1.5))).astype("float32")      # share of rated power


power = wind()


def windows(start, stop):
    at = np.arange(start + BACK, stop - AHEAD)
    x = np.stack([power[t - BACK:t] for t in at])
    hour = 2 * np.pi * (at % 24) / 24
    x = np.column_stack([x, np.sin(hour), np.cos(hour)]).astype("float32")
    return x, np.stack([power[t:t + AHEAD] for t in at])


xtr, ytr = windows(0, 4200)
xva, yva = windows(4200, 4900)
xte, yte = windows(4900, 6000)


class QuantileNet(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.h1 = tf.keras.layers.Dense(64, activation="elu")
        self.h2 = tf.keras.layers.Dense(64, activation="elu")
        self.low = tf.keras.layers.Dense(AHEAD)
        self.gaps = tf.keras.layers.Dense(AHEAD * (len(LEVELS) - 1), bias_initializer=tf.keras.initializers.Constant(-3.0))

    def call(self, x):
        h = self.h2(self.h1(x))
        gaps = tf.nn.softplus(tf.reshape(self.gaps(h), [-1, AHEAD, len(LEVELS) - 1]))
        low = self.low(h)[:, :, None]
        return tf.concat([low, low + tf.cumsum(gaps, -1)], -1)       # ordered by construction


def pinball(y, q, weight):
    e = y[:, :, None] - q
    loss = tf.maximum(LEVELS * e, (LEVELS - 1) * e)
    return tf.reduce_sum(tf.reduce_mean(loss, [0, 2]) * weight) / tf.reduce_sum(weight)


net, ema = QuantileNet(), QuantileNet()
net(xtr[:1]), ema(xtr[:1])
ema.set_weights(net.get_weights())
opt = tf.keras.optimizers.AdamW(2e-3, weight_decay=1e-3)
pool = [tf.Variable(tf.zeros_like(v), trainable=False) for v in net.trainable_variables]
MICRO, ACCUM, EPOCHS = 32, 4, 20


@tf.function
def micro_step(x, y, weight):
    with tf.GradientTape() as tape:
        loss = pinball(y, net(x), weight)
    for slot, g in zip(pool, tape.gradient(loss, net.trainable_variables)):
        slot.assign_add(g / ACCUM)
    return loss


@tf.function
def apply_step():
    opt.apply_gradients([(slot.value(), v) for slot, v in zip(pool, net.trainable_variables)])
    for slot in pool:
        slot.assign(tf.zeros_like(slot))
    for a, b in zip(ema.trainable_variables, net.trainable_variables):
        a.assign(0.98 * a + 0.02 * b)


apply_every = tf.ones(AHEAD)
data = tf.data.Dataset.from_tensor_slices((xtr, ytr)).shuffle(len(xtr), seed=2).batch(MICRO, drop_remainder=True)
done = 0
for epoch in range(EPOCHS):
    reach = min(AHEAD, 1 + epoch // 2)                               # near steps first
    weight = tf.constant([1.0] * reach + [0.0] * (AHEAD - reach))
    total = []
    for x, y in data:
        total.append(micro_step(x, y, weight))
        done += 1
        if done % ACCUM == 0:
            apply_step()
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1:2d} steps {reach} loss {np.mean(total):.4f} val {float(pinball(yva, ema(xva), apply_every)):.4f}")

q = ema(xte)
climate = np.broadcast_to(np.quantile(ytr, LEVELS), (len(yte), AHEAD, len(LEVELS))).astype("float32")
last = xte[:, BACK - 1][:, None, None] + np.quantile(ytr - xtr[:, BACK - 1][:, None], LEVELS)[None, None]
inside = np.mean((yte >= q[:, :, 0]) & (yte <= q[:, :, -1]))
print(f"test pinball {float(pinball(yte, q, apply_every)):.4f}  climatology {float(pinball(yte, climate, apply_every)):.4f}  "
      f"persistence band {float(pinball(yte, last.astype('float32'), apply_every)):.4f}  80% band covers {inside:.3f}")
