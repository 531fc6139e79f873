import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import keras
from keras import layers
from sklearn.preprocessing import StandardScaler

keras.utils.set_random_seed(8)
rng = np.random.default_rng(8)

HEADS = {
    "species": {"units": 3, "activation": "softmax", "loss": "sparse_categorical_crossentropy", "weight": 0.5},
    "brood": {"units": 1, "activation": "softplus", "loss": "mse", "weight": 1.0},
    "occupied": {"units": 1, "activation": "sigmoid", "loss": "binary_crossentropy", "weight": 0.5},
}


def bee_hotels(n):
    """site table + hourly hive-tube temperatures -> species, number of brood cells, tube occupied or not"""
    site = rng.normal(0, 1, (n, 6)).astype("float32")
    level = rng.normal(0, 1, n)
    hours = np.arange(24)
    temps = level[:, None] + np.sin(hours / 24 * 6.283) * (1 + 0.5 * site[:, :1]) + rng.normal(0, 0.3, (n, 24))
    species = np.argmax(np.stack([site[:, 0] + site[:, 1], 1.5 * site[:, 2], site[:, 3] - level], 1), axis=1)
    brood = np.exp(1.5 + 0.8 * level + 0.5 * site[:, 4] - 0.4 * site[:, 0] + rng.normal(0, 0.1, n))
    occupied = (site[:, 5] + 0.7 * level + rng.normal(0, 0.2, n) > 0).astype("float32")
    return {"site": site, "temps": temps.astype("float32")[..., None]}, species, brood, occupied


def build():
    site = keras.Input((6,), name="site")
    temps = keras.Input((24, 1), name="temps")
    t = layers.Conv1D(16, 5, activation="relu")(temps)
    t = layers.GlobalAveragePooling1D()(t)
    h = layers.Concatenate()([layers.Dense(32, activation="relu")(site), t])
    h = layers.Dense(48, activation="relu")(h)
    outputs = {name: layers.Dense(c["units"], activation=c["activation"], name=name)(h) for name, c in HEADS.items()}
    return keras.Model({"site": site, "temps": temps}, outputs)


x, species, brood, occupied = bee_hotels(3000)
cut = 2400
scaler = StandardScaler().fit(np.log1p(brood[:cut])[:, None])
brood_z = scaler.transform(np.log1p(brood)[:, None]).astype("float32")
targets = {"species": species, "brood": brood_z, "occupied": occupied[:, None]}


def part(d, s):
    return {k: v[s] for k, v in d.items()}


model = build()
model.compile(optimizer=keras.optimizers.Adam(3e-3),
              loss={k: c["loss"] for k, c in HEADS.items()},
              loss_weights={k: c["weight"] for k, c in HEADS.items()},
              metrics={"species": "accuracy", "brood": "mae", "occupied": "accuracy"})
model.fit(part(x, slice(0, cut)), part(targets, slice(0, cut)), epochs=20, batch_size=64, verbose=2)

pred = model.predict(part(x, slice(cut, None)), verbose=0)
z = brood_z[cut:]
print(f"species {np.mean(pred['species'].argmax(1) == species[cut:]):.3f}  "
      f"occupied {np.mean((pred['occupied'][:, 0] > 0.5) == occupied[cut:]):.3f}  "
      f"brood R2 {1 - np.mean((pred['brood'] - z) ** 2) / z.var():.3f}")
