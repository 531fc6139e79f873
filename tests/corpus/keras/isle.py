import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(17)
rng = np.random.default_rng(17)

N = 6000
hour = rng.integers(0, 24, N)
temp = rng.normal(14, 8, N)
pressure = rng.normal(1013, 9, N)
humid = np.clip(rng.normal(65, 18, N), 5, 100)
rate = np.exp(0.6 + 0.9 * np.sin((hour - 9) / 24 * 2 * np.pi) + 0.05 * temp - 0.00008 * (temp - 24) ** 2)
rides = rng.poisson(rate)
p_rain = 1 / (1 + np.exp(-(0.06 * (humid - 70) - 0.15 * (pressure - 1008))))
rain = rng.random(N) < p_rain

raw = {"clock": hour.astype("int32"), "weather": np.stack([temp, pressure, humid], 1).astype("float32")}
targets = {"rides": rides.astype("float32")[:, None], "rain": rain.astype("float32")[:, None]}


def pipeline(lo, hi):
    part = ({k: v[lo:hi] for k, v in raw.items()}, {k: v[lo:hi] for k, v in targets.items()})
    return tf.data.Dataset.from_tensor_slices(part).batch(20).cache().prefetch(1)


train, test = pipeline(0, 5000), pipeline(5000, N)

scale = layers.Normalization(name="scale")
scale.adapt(raw["weather"][:5000])

clock = keras.Input((), name="clock", dtype="int32")
weather = keras.Input((3,), name="weather")
joined = layers.Concatenate()([layers.Embedding(24, 4)(clock), scale(weather)])
trunk = layers.Dense(48, activation="gelu")(joined)
trunk = layers.Dense(24, activation="gelu")(trunk)
rides_out = layers.Dense(1, activation="exponential", name="rides")(trunk)
rain_out = layers.Dense(1, name="rain")(trunk)
model = keras.Model({"clock": clock, "weather": weather}, {"rides": rides_out, "rain": rain_out})


def rain_hit(y_true, score):
    return keras.ops.cast((y_true > 0.5) == (score > 0), "float32")


steps = len(train) * 8
model.compile(
    optimizer=keras.optimizers.Nadam(keras.optimizers.schedules.CosineDecay(
        1e-4, decay_steps=steps - 250, alpha=0.02, warmup_target=5e-3, warmup_steps=250)),
    loss={"rides": "poisson", "rain": keras.losses.BinaryCrossentropy(from_logits=True)},
    loss_weights={"rides": 0.3, "rain": 1.0},
    metrics={"rides": ["mae"], "rain": [rain_hit]},
)
model.fit(train, epochs=8, validation_data=test, verbose=2)

result = model.evaluate(test, return_dict=True, verbose=0)
print({k: round(float(v), 3) for k, v in result.items()})
print("mae when always saying the mean:", np.abs(rides[5000:] - rides[:5000].mean()).mean().round(3))
print("share of dry hours:", 1 - rain[5000:].mean())
