import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(3)


def sensor_calibration(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, (n, 2)).astype("float32")
    sigma = 0.01 + 0.04 * np.abs(x[:, 1])
    y = 0.5 * np.sin(2 * x[:, 0]) + 0.2 * x[:, 1] + rng.normal(0, sigma)
    return x, y.astype("float32"), sigma


def nll(y_true, params):
    mean, log_sigma = tf.split(params, 2, axis=-1)
    z = (y_true - mean) / tf.exp(log_sigma)
    return tf.reduce_mean(0.5 * tf.square(z) + log_sigma, axis=-1)


class LogSigmaClamp(keras.layers.Layer):
    def call(self, p):
        mean, s = p[..., :1], p[..., 1:]
        return tf.concat([mean, tf.maximum(s, -6.0)], axis=-1)


x, y, _ = sensor_calibration(3000, 0)
xt, yt, st = sensor_calibration(600, 1)
model = keras.Sequential([
    keras.Input((2,)),
    keras.layers.Dense(48, activation="tanh"),
    keras.layers.Dense(48, activation="tanh"),
    keras.layers.Dense(2),
    LogSigmaClamp(),
])
schedule = keras.optimizers.schedules.CosineDecay(5e-3, 30 * (len(x) // 64 + 1))
model.compile(optimizer=keras.optimizers.Adam(schedule, clipnorm=1.0), loss=nll)
hist = model.fit(x, y[:, None], epochs=30, batch_size=64, verbose=0,
                 validation_data=(xt, yt[:, None]))
for e in (0, 5, 15, 29):
    print(f"epoch {e + 1} loss {hist.history['loss'][e]:.3f} val {hist.history['val_loss'][e]:.3f}")
p = model.predict(xt, verbose=0)
rmse = np.sqrt(np.mean((p[:, 0] - yt) ** 2))
corr = np.corrcoef(np.exp(p[:, 1]), st)[0, 1]
print(f"test rmse {rmse:.4f} (std of target {yt.std():.4f})  corr of sigma with truth {corr:.3f}")
