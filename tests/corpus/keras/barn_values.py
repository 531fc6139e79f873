import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(12)
rng = np.random.default_rng(12)

n = 3000
area = rng.lognormal(5.3, 0.4, n)
year = rng.integers(1890, 2015, n)
acres = rng.gamma(2.0, 3.0, n)
distance = rng.uniform(1, 60, n)
price = (180_000 + 420 * area + 350 * (year - 1890) + 6_000 * acres
         - 1_500 * distance + 40_000 * (distance < 10) + rng.normal(0, 9_000, n))

x = np.stack([area, year, acres, distance], 1).astype("float32")
y = price.astype("float32")
x_train, y_train, x_val, y_val = x[:2400], y[:2400], x[2400:], y[2400:]

scale_inputs = layers.Normalization()
scale_inputs.adapt(x_train)

inputs = keras.Input((4,), name="facts")
h = scale_inputs(inputs)
h = layers.Dense(48, activation="relu")(h)
h = layers.Dense(48, activation="relu")(h)
h = layers.Dense(1, kernel_initializer="zeros")(h)
outputs = layers.Rescaling(float(y_train.std()), offset=float(y_train.mean()), name="dollars")(h)
model = keras.Model(inputs, outputs)
model.compile(
    optimizer=keras.optimizers.Adam(5e-3),
    loss="mean_squared_error",
    metrics=[keras.metrics.MeanAbsoluteError(name="mae"), keras.metrics.R2Score(name="r2")],
)
plateau = keras.callbacks.ReduceLROnPlateau("val_loss", factor=0.5, patience=3)
model.fit(x_train, y_train[:, None], validation_data=(x_val, y_val[:, None]), epochs=25, batch_size=64,
          callbacks=[plateau], verbose=2)
result = model.evaluate(x_val, y_val[:, None], verbose=0, return_dict=True)
print({k: round(v, 3) for k, v in result.items()}, "spread of prices:", round(float(y_val.std())))
