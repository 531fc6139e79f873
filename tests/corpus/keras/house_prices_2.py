import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import math
import numpy as np
import keras
from keras import layers, ops

keras.utils.set_random_seed(41)
rng = np.random.default_rng(41)


def make_market(n):
    area = rng.gamma(6, 18, n) + 25
    rooms = np.clip(np.round(area / 28 + rng.normal(0, .8, n)), 1, 9)
    age = rng.exponential(35, n)
    distance = rng.gamma(2, 4, n)
    garden = rng.random(n) < .35
    price = (2300 * area + 9000 * rooms + 42000 * garden) * np.exp(-0.035 * distance) * (1 - 0.25 * np.tanh(age / 60))
    price *= np.exp(rng.normal(0, .1, n))
    return np.stack([area, rooms, age, distance, garden], 1).astype("float32"), price.astype("float32")[:, None]


x, price = make_market(4000)
cut = 3200
x_train, x_test, p_train, p_test = x[:cut], x[cut:], price[:cut], price[cut:]


@keras.saving.register_keras_serializable("prices")
class OneCycle(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, total, start=0.0, warm=0.25):
        self.peak, self.total, self.start, self.warm = peak, total, start, warm

    def __call__(self, step):
        done = ops.cast(step, "float32") / self.total
        up = self.start + (self.peak - self.start) * done / self.warm
        down = self.peak * 0.5 * (1 + ops.cos(math.pi * ops.clip((done - self.warm) / (1 - self.warm), 0.0, 1.0)))
        return ops.where(done < self.warm, up, down)

    def get_config(self):
        return {"peak": self.peak, "total": self.total, "start": self.start, "warm": self.warm}


standardise = layers.Normalization()
standardise.adapt(x_train)
centre, spread = float(p_train.mean()), float(p_train.std())

model = keras.Sequential([
    layers.Input((x.shape[1],)),
    standardise,
    layers.Dense(64, activation="selu", kernel_initializer="lecun_normal"),
    layers.Dense(64, activation="selu", kernel_initializer="lecun_normal"),
    layers.Dense(1),
    layers.Rescaling(scale=spread, offset=centre),
])

epochs, batch = 25, 64
steps = epochs * math.ceil(cut / batch)
model.compile(
    optimizer=keras.optimizers.Adam(OneCycle(2e-2, steps), clipnorm=1.0),
    loss="mse",
    metrics=["mae"],
)
before = model.evaluate(x_test, p_test, verbose=0)
model.fit(x_train, p_train, validation_split=0.1, epochs=epochs, batch_size=batch, verbose=2)
after = model.evaluate(x_test, p_test, verbose=0)

residual = p_test - model.predict(x_test, verbose=0)
r2 = 1 - (residual ** 2).sum() / ((p_test - p_train.mean()) ** 2).sum()
print("test mse before %.4g after %.4g" % (before[0], after[0]))
print("test mae %.0f, mae of the mean price %.0f" % (after[1], np.abs(p_test - p_train.mean()).mean()))
print("test R2 %.3f" % r2)
