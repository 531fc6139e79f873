"""Day-ahead forecast of district-heating load with a small GRU encoder/decoder."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(4)
PAST, HORIZON = 48, 24


def make_series(hours, rng):
    t = np.arange(hours)
    amp = 1.0 + 0.5 * np.sin(2 * np.pi * t / (24 * 9))
    weather = np.zeros(hours)
    for i in range(1, hours):
        weather[i] = 0.97 * weather[i - 1] + 0.06 * rng.normal()
    load = amp * np.sin(2 * np.pi * t / 24) + 0.4 * np.cos(4 * np.pi * t / 24) + weather
    hour = 2 * np.pi * (t % 24) / 24
    return np.stack([load, np.sin(hour), np.cos(hour)], axis=1).astype("float32")


def windows(series, stride):
    past, future = [], []
    for s in range(0, len(series) - PAST - HORIZON, stride):
        past.append(series[s:s + PAST])
        future.append(series[s + PAST:s + PAST + HORIZON])
    return np.array(past), np.array(future)


class Forecaster(keras.Model):
    def __init__(self, units=48):
        super().__init__()
        self.encoder = keras.layers.GRU(units, return_state=True)
        self.cell = keras.layers.GRUCell(units)
        self.head = keras.layers.Dense(1)

    def step(self, prev, calendar, state):
        h, _ = self.cell(tf.concat([prev, calendar], axis=-1), [state])
        return prev + self.head(h), h

    def call(self, inputs):
        past, future = inputs
        _, state = self.encoder(past)
        prev = past[:, -1, :1]
        outs = []
        for t in range(HORIZON):
            out, state = self.step(prev, future[:, t, 1:], state)
            outs.append(out)
            prev = future[:, t, :1]
        return tf.concat(outs, axis=1)

    def forecast(self, past, future):
        _, state = self.encoder(past)
        prev = past[:, -1, :1]
        outs = []
        for t in range(HORIZON):
            out, state = self.step(prev, future[:, t, 1:], state)
            outs.append(out)
            prev = out
        return tf.concat(outs, axis=1)


def main():
    rng = np.random.default_rng(0)
    series = make_series(24 * 330, rng)
    cut = 24 * 270
    tr_past, tr_future = windows(series[:cut], 3)
    te_past, te_future = windows(series[cut:], 6)

    model = Forecaster()
    opt = keras.optimizers.Adam(3e-3, clipnorm=1.0)

    @tf.function
    def train_step(past, future):
        with tf.GradientTape() as tape:
            pred = model((past, future))
            loss = tf.reduce_mean(tf.square(pred - future[..., 0]))
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    ds = tf.data.Dataset.from_tensor_slices((tr_past, tr_future)).shuffle(4000, seed=1).batch(64)
    for epoch in range(12):
        losses = [float(train_step(p, f)) for p, f in ds]
        if epoch % 3 == 2:
            print(f"epoch {epoch + 1:2d}  one-step mse {np.mean(losses):.4f}")

    pred = model.forecast(tf.constant(te_past), tf.constant(te_future)).numpy()
    err = np.abs(pred - te_future[..., 0])
    naive = np.abs(te_past[:, -HORIZON:, 0] - te_future[..., 0])
    flat = np.abs(te_past[:, -1:, 0] - te_future[..., 0])
    print(f"24 h ahead forecast: MAE {err.mean():.3f}  (yesterday again {naive.mean():.3f}, last value {flat.mean():.3f})")
    print("MAE by lead time:", " ".join(f"{h + 1}h={err[:, h].mean():.2f}" for h in (0, 5, 11, 17, 23)))


if __name__ == "__main__":
    main()
