"""Sort seeds by measured shape. Plain SGD, large rate, full use of batch norm."""
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)

n, d, k = 3000, 10, 6
centres = rng.normal(0, 1.2, (k, 2, d))
y = rng.integers(0, k, n)
which = rng.integers(0, 2, n)
x = centres[y, which] + rng.normal(0, 0.7, (n, d))
x = (x * rng.uniform(0.1, 20, d) + rng.uniform(-50, 50, d)).astype("float32")

cut = 2400
norm = layers.Normalization()
norm.adapt(x[:cut])


def block(units):
    return [layers.Dense(units, use_bias=False), layers.BatchNormalization(), layers.ReLU()]


model = keras.Sequential(
    [keras.Input((d,)), norm] + block(64) + block(64) + [layers.Dense(k, kernel_initializer="zeros")]
)

decay = keras.optimizers.schedules.PiecewiseConstantDecay([200, 300], [1.0, 0.3, 0.05])
model.compile(
    optimizer=keras.optimizers.SGD(decay),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x[:cut], y[:cut], batch_size=128, epochs=20, validation_data=(x[cut:], y[cut:]), verbose=2)

pred = model.predict(x[cut:], verbose=0).argmax(1)
table = np.zeros((k, k), int)
np.add.at(table, (y[cut:], pred), 1)
print(table)
print("accuracy", np.trace(table) / table.sum())
