import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import keras
from keras import layers, ops

keras.utils.set_random_seed(30)


def plant(n, seed):
    """Two targets on very different scales (kilowatts and a valve state); regime depends on the inputs."""
    r = np.random.default_rng(seed)
    x = r.uniform(-1, 1, (n, 6)).astype("float32")
    regime = (x[:, 0] > 0) * 2 + (x[:, 1] > 0)
    f = np.select([regime == 0, regime == 1, regime == 2, regime == 3],
                  [3 * x[:, 2], -2 * x[:, 3] + 1, np.sin(3 * x[:, 4]) * 2, x[:, 2] * x[:, 5] * 4 - 1])
    power = 40000 + 9000 * f + r.normal(0, 400, n)
    valve = (f + r.normal(0, 0.2, n) > 0.3).astype("float32")
    return x, {"power": power.astype("float32")[:, None], "valve": valve[:, None]}, regime


class Experts(layers.Layer):
    def __init__(self, n=6, top=2, width=24, balance=0.02, **kw):
        super().__init__(**kw)
        self.n, self.top, self.width, self.balance = n, top, width, balance
        self.gate = layers.Dense(n, use_bias=False)

    def build(self, shape):
        d = shape[-1]
        self.w1 = self.add_weight(shape=(self.n, d, self.width), initializer=keras.initializers.RandomNormal(stddev=(2 / d) ** 0.5), name="w1")
        self.b1 = self.add_weight(shape=(self.n, self.width), initializer="zeros", name="b1")
        self.w2 = self.add_weight(shape=(self.n, self.width, d), initializer=keras.initializers.RandomNormal(stddev=self.width ** -0.5), name="w2")
        self.gate.build(shape)

    def call(self, x):
        p = ops.softmax(self.gate(x))
        value, index = ops.top_k(p, self.top)
        mask = ops.sum(ops.one_hot(index, self.n), axis=1)
        use = p * mask
        use = use / ops.sum(use, axis=-1, keepdims=True)
        h = ops.relu(ops.einsum("bd,edw->bew", x, self.w1) + self.b1)
        y = ops.einsum("bew,ewd->bed", h, self.w2)
        load = ops.stop_gradient(ops.mean(mask, 0)) / self.top
        self.add_loss(self.balance * self.n * ops.sum(load * ops.mean(p, 0)))
        return x + ops.einsum("be,bed->bd", use, y)


class WarmRestarts(keras.callbacks.Callback):
    def __init__(self, peak, period):
        super().__init__()
        self.peak, self.period, self.k = peak, period, 0

    def on_train_batch_begin(self, batch, logs=None):
        f = (self.k % self.period) / self.period
        self.model.optimizer.learning_rate = 1e-5 + 0.5 * self.peak * (1 + np.cos(np.pi * f))
        self.k += 1


x, y, _ = plant(20000, 0)
xv, yv, regime = plant(2000, 1)
MU, SD = float(y["power"].mean()), float(y["power"].std())

inp = keras.Input((6,))
h = layers.Dense(32, "relu")(inp)
moe = Experts(name="experts_a")
h = moe(h)
h = layers.LayerNormalization()(h)
h = Experts(name="experts_b")(h)
p = layers.Dense(1)(h)
model = keras.Model(inp, {"power": layers.Rescaling(SD, MU, name="power")(p), "valve": layers.Dense(1, name="valve")(h)})
model.compile(
    optimizer=keras.optimizers.Adam(2e-3, clipnorm=1.0),
    loss={"power": "mse", "valve": keras.losses.BinaryCrossentropy(from_logits=True)},
    loss_weights={"power": 1.0 / SD ** 2, "valve": 0.5},
    metrics={"power": ["mae"], "valve": [keras.metrics.BinaryAccuracy(threshold=0.0)]})
model.fit(x, y, validation_data=(xv, yv), batch_size=128, epochs=14, verbose=2, callbacks=[WarmRestarts(4e-3, 157 * 7)])

res = model.evaluate(xv, yv, verbose=0, return_dict=True)
print({k: round(float(v), 4) for k, v in res.items()})
gate = keras.Model(inp, ops.softmax(moe.gate(model.layers[1].output)))
g = gate.predict(xv, verbose=0)
for k in range(4):
    print("regime", k, "mean gate", g[regime == k].mean(0).round(2).tolist())
