import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf

LOOKBACK = 24
HORIZON = 1
BATCH = 64
EPOCHS = 8


def synthetic_load(n=2400, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    daily = 12 * np.sin(2 * np.pi * t / 24)
    weekly = 5 * np.sin(2 * np.pi * t / 168 + 0.7)
    noise = np.zeros(n)
    for i in range(1, n):
        noise[i] = 0.7 * noise[i - 1] + rng.normal(0, 1.0)
    return (60 + daily + weekly + noise).astype("float32")


def windows(series):
    xs, ys = [], []
    for i in range(len(series) - LOOKBACK - HORIZON + 1):
        xs.append(series[i:i + LOOKBACK])
        ys.append(series[i + LOOKBACK + HORIZON - 1])
    return np.stack(xs)[..., None], np.array(ys)


class Forecaster(tf.keras.Model):
    def __init__(self, units):
        super().__init__()
        self.rnn = tf.keras.layers.GRU(units)
        self.hidden = tf.keras.layers.Dense(units, activation="relu")
        self.out = tf.keras.layers.Dense(1)

    def call(self, x):
        return self.out(self.hidden(self.rnn(x)))


tf.random.set_seed(1)
load = synthetic_load()
cut = int(len(load) * 0.8)
mu, sd = load[:cut].mean(), load[:cut].std()
x_train, y_train = windows((load[:cut] - mu) / sd)
x_test, y_test = windows((load[cut - LOOKBACK:] - mu) / sd)

train_ds = (tf.data.Dataset.from_tensor_slices((x_train, y_train))
            .shuffle(len(x_train), seed=1)
            .batch(BATCH, drop_remainder=True)
            .prefetch(tf.data.AUTOTUNE))

model = Forecaster(24)
opt = tf.keras.optimizers.Adam(5e-3)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        pred = model(xb, training=True)
        loss = tf.reduce_mean(tf.square(pred - yb))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(EPOCHS):
    running = tf.keras.metrics.Mean()
    for xb, yb in train_ds:
        running.update_state(train_step(xb, yb))
    print(f"epoch {epoch + 1:2d}  mse {running.result():.4f}")

forecast = model.predict(x_test, verbose=0)[:, 0] * sd + mu
actual = y_test * sd + mu
naive = x_test[:, -1, 0] * sd + mu
print(f"MAE model : {np.abs(forecast - actual).mean():.3f} MW")
print(f"MAE naive : {np.abs(naive - actual).mean():.3f} MW")
