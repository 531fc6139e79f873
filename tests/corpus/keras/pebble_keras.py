import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(8)
rng = np.random.default_rng(8)

# sensor calibration: tiny noise at low temperature, larger at high
n = 4000
feats = rng.uniform(-1, 1, size=(n, 3)).astype("float32")
signal = 0.5 * np.sin(3 * feats[:, 0]) + 0.3 * feats[:, 1] ** 2
noise = 0.05 + 0.10 * (feats[:, 2] > 0)
target = (signal + noise * rng.normal(size=n)).astype("float32")[:, None]
x_train, x_test, y_train, y_test = feats[:3200], feats[3200:], target[:3200], target[3200:]


def gaussian_nll(y, params):
    mean, log_std = params[:, :1], tf.clip_by_value(params[:, 1:], -6.0, 3.0)
    return tf.reduce_mean(log_std + 0.5 * tf.square((y - mean) / tf.exp(log_std)), axis=-1)


def mae(y, params):
    return tf.abs(y - params[:, :1])


inputs = tf.keras.Input((3,))
h = tf.keras.layers.Dense(64, activation="swish")(inputs)
h = tf.keras.layers.Dense(64, activation="swish")(h)
h = tf.keras.layers.Dropout(0.02)(h)
model = tf.keras.Model(inputs, tf.keras.layers.Dense(2)(h))
model.compile(tf.keras.optimizers.Adam(3e-3), loss=gaussian_nll, metrics=[mae])
model.fit(x_train, y_train, validation_split=0.1, epochs=30, batch_size=64, verbose=2)

# Monte Carlo dropout: 40 stochastic passes give the model's own uncertainty
draws = np.stack([model(x_test, training=True).numpy() for _ in range(40)])
mean = draws[:, :, 0].mean(axis=0)
aleatoric = np.exp(draws[:, :, 1]).mean(axis=0)
std = np.sqrt(aleatoric ** 2 + draws[:, :, 0].var(axis=0))
covered = np.abs(y_test[:, 0] - mean) < 1.645 * std
hot = x_test[:, 2] > 0
print(f"mae {np.abs(y_test[:, 0] - mean).mean():.4f}  (noise floor {np.mean(0.8 * noise[3200:]):.4f})")
print(f"std cold {std[~hot].mean():.3f} hot {std[hot].mean():.3f}  90% interval covers {covered.mean():.3f}")
