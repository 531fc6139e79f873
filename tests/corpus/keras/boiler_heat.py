import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(31)
rng = np.random.default_rng(31)


def measure(n):
    flow = rng.uniform(200, 1800, n)          # litres per hour
    inlet = rng.uniform(280, 340, n)          # kelvin
    pressure = rng.uniform(900, 3200, n)      # hPa
    fuel = rng.uniform(50, 400, n)            # g per minute
    hours = rng.uniform(0, 9000, n)           # running time
    eff = 0.92 - 0.00002 * hours - 0.0008 * (inlet - 280)
    rise = 40 * fuel * eff / flow ** 0.8 + 0.0015 * (pressure - 2000)
    table = np.stack([flow, inlet, pressure, fuel, hours], 1)
    return table.astype("float32"), (rise + rng.normal(0, 0.5, n)).astype("float32")


def prepare(table, stats=None):
    if stats is None:
        stats = table.mean(0), table.std(0)
    return table, stats


class Regressor(keras.Model):
    def __init__(self, width=48):
        super().__init__()
        self.a = keras.layers.Dense(width, activation="tanh")
        self.b = keras.layers.Dense(width, activation="tanh")
        self.c = keras.layers.Dense(1)

    def call(self, x):
        return self.c(self.b(self.a(x)))[:, 0]


raw_train, t_train = measure(4000)
raw_test, t_test = measure(800)
x_train, stats = prepare(raw_train)
x_test, _ = prepare(raw_test, stats)
mu, sd = t_train.mean(), t_train.std()
y_train = (t_train - mu) / sd

model = Regressor()
opt = keras.optimizers.Adam(2e-3)
ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(4000, seed=0).batch(64)


@tf.function
def update(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    g = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(g, model.trainable_variables))
    return loss


for epoch in range(25):
    mean = keras.metrics.Mean()
    for x, y in ds:
        mean.update_state(update(x, y))
    if epoch % 4 == 0:
        pred = model(x_test).numpy() * sd + mu
        r2 = 1 - np.mean((pred - t_test) ** 2) / np.var(t_test)
        print(f"{epoch:3d} loss {float(mean.result()):.4f} test R2 {r2:.3f}")
pred = model(x_test).numpy() * sd + mu
print("test MAE in kelvin", np.abs(pred - t_test).mean().round(3), "spread", t_test.std().round(3))
