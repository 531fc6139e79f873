import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(77)
rng = np.random.default_rng(77)
N = 3000

sugar = rng.normal(210, 18, N)
acid = rng.normal(6.5, 0.8, N)
tannin = rng.gamma(4.0, 0.6, N)
colour = rng.uniform(0, 1, N)
year = 1990 + 9 * np.tanh((sugar - 210) / 18) - 5 * (acid - 6.5) + 4 * np.sin(5 * colour) * tannin / 2.4
year += rng.normal(0, 1.0, N)
x = np.stack([sugar, acid, tannin, colour], axis=1).astype("float32")
y = year.astype("float32")
x_train, y_train, x_test, y_test = x[:2500], y[:2500], x[2500:], y[2500:]

norm = layers.Normalization()
norm.adapt(x_train)
centre, spread = float(y_train.mean()), float(y_train.std())

inputs = keras.Input((4,))
h = norm(inputs)
h = layers.Dense(24, activation="tanh")(h)
h = layers.Dense(24, activation="tanh")(h)
h = layers.Dense(1)(h)
outputs = layers.Rescaling(scale=spread, offset=centre)(h)
model = keras.Model(inputs, outputs)


def scaled_mse(y_true, y_pred):
    return keras.ops.mean(keras.ops.square((y_true - y_pred) / spread), axis=-1)


model.compile(
    optimizer=keras.optimizers.SGD(0.1, use_ema=True, ema_momentum=0.98),
    loss=scaled_mse,
    metrics=["mae"],
)
model.fit(
    x_train, y_train, validation_data=(x_test, y_test), epochs=40, batch_size=125, verbose=2,
    callbacks=[
        keras.callbacks.SwapEMAWeights(swap_on_epoch=True),
        keras.callbacks.LearningRateScheduler(lambda e: 0.1 if e < 28 else 0.02),
    ],
)
pred = model.predict(x_test, verbose=0)[:, 0]
print("r2", 1 - np.mean((pred - y_test) ** 2) / y_test.var(), "mean of prediction", pred.mean())
