import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)

n = 2400
depth = rng.uniform(20, 400, n)
pressure = 101325 + 9810 * depth * rng.uniform(0.9, 1.1, n)
silica = rng.lognormal(5.5, 0.4, n)
interval = rng.gamma(4, 15, n)
kelvin = 373.15 + 0.18 * depth + 0.02 * silica - 0.05 * interval + 6 * np.sin(depth / 40) + rng.normal(0, 1.5, n)

features = np.stack([depth, pressure, silica, interval], axis=1).astype("float32")
target = kelvin.astype("float32")
cut = 2000

norm = layers.Normalization()
norm.adapt(features[:cut])

inputs = keras.Input((4,))
h = norm(inputs)
h = layers.Dense(64, activation="tanh")(h)
h = layers.Dense(64, activation="tanh")(h)
outputs = layers.Dense(1, bias_initializer=keras.initializers.Constant(target[:cut].mean()))(h)
model = keras.Model(inputs, outputs)

model.compile(
    optimizer=keras.optimizers.Adam(5e-3),
    loss=keras.losses.Huber(delta=5.0),
    metrics=["mae"],
)
model.fit(
    features[:cut], target[:cut],
    validation_data=(features[cut:], target[cut:]),
    epochs=30, batch_size=64, verbose=2,
    callbacks=[
        keras.callbacks.ReduceLROnPlateau(factor=0.5, patience=3),
        keras.callbacks.EarlyStopping(patience=8, restore_best_weights=True),
    ],
)
pred = model.predict(features[cut:], verbose=0)[:, 0]
truth = target[cut:]
print("mae", np.abs(pred - truth).mean(), "spread of target", truth.std())
print("R2", 1 - ((pred - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())
