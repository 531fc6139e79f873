import math

import keras
import numpy as np
from keras import layers, ops

keras.utils.set_random_seed(17)
rng = np.random.default_rng(17)

# sensor calibration: the reading's error grows with distance
n = 5000
distance = rng.uniform(0, 1, size=(n, 1))
angle = rng.uniform(-1, 1, size=(n, 1))
noise = 0.01 + 0.08 * distance ** 2
offset = 0.3 * np.sin(4 * distance) * np.cos(2 * angle) + noise * rng.normal(size=(n, 1))
x = np.hstack([distance, angle]).astype("float32") * 2 - [1, 0]
y = offset.astype("float32")
x_train, x_test, y_train, y_test = x[:4000], x[4000:], y[:4000], y[4000:]


def gaussian_nll(y_true, y_pred):
    mu, log_var = y_pred[:, :1], y_pred[:, 1:]
    return ops.mean(0.5 * (math.log(2 * math.pi) + log_var + ops.square(y_true - mu) * ops.exp(-log_var)), axis=-1)


def mu_mae(y_true, y_pred):
    return ops.mean(ops.abs(y_true - y_pred[:, :1]))


inputs = keras.Input((2,))
h = layers.Dense(64, activation="tanh")(inputs)
h = layers.Dense(64, activation="tanh")(h)
mu = layers.Dense(1)(h)
log_var = layers.Dense(1, kernel_initializer="zeros", bias_initializer=keras.initializers.Constant(-2.0))(h)
model = keras.Model(inputs, layers.Concatenate()([mu, log_var]))

model.compile(optimizer=keras.optimizers.Adam(2e-3, clipnorm=1.0), loss=gaussian_nll, metrics=[mu_mae])
model.fit(x_train, y_train, validation_data=(x_test, y_test), batch_size=64, epochs=20, verbose=2)

out = model.predict(x_test, verbose=0)
sigma = np.exp(0.5 * out[:, 1])
z = (y_test[:, 0] - out[:, 0]) / sigma
print("inside one sigma:", round(float((abs(z) < 1).mean()), 3), "(0.683 wanted)")
print("inside two sigma:", round(float((abs(z) < 2).mean()), 3), "(0.954 wanted)")
print("sigma against the true noise, correlation:", round(float(np.corrcoef(sigma, noise[4000:, 0])[0, 1]), 3))
