"""Price and condition class of house listings from one shared trunk."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import pandas as pd
from keras import layers

keras.utils.set_random_seed(13)


def listings(n=4000, seed=13):
    rng = np.random.default_rng(seed)
    df = pd.DataFrame(
        {
            "area": rng.uniform(35, 220, n),
            "rooms": rng.integers(1, 8, n),
            "year": rng.integers(1900, 2023, n),
            "dist": rng.gamma(2.0, 4.0, n),
            "renovated": rng.integers(0, 2, n),
            "energy": rng.normal(150, 50, n),
        }
    )
    age = (2023 - df.year) / 60 - 1.0
    wear = np.where(df.renovated == 1, -0.8 * age, 1.2 * age) + (df.energy - 150) / 60
    wear += rng.normal(0, 0.15, n)
    df["condition"] = pd.qcut(wear, 3, labels=False)
    df["price"] = (
        40 + 2.4 * df.area + 8 * df.rooms - 5 * df.dist + rng.normal(0, 12, n)
    ).clip(lower=20)
    return df


def to_arrays(df, stats):
    x = (df[stats.index] - stats["mean"]) / stats["std"]
    targets = {
        "price": df.price.to_numpy("float32")[:, None] * 1000,
        "condition": df.condition.to_numpy("int64")[:, None],
    }
    return x.to_numpy("float32"), targets


def build(n_in):
    inp = keras.Input((n_in,))
    h = layers.Dense(64, activation="relu")(inp)
    h = layers.Dense(12, activation="relu")(h)
    price = layers.Dense(1)(layers.Dense(32, activation="relu")(h))
    price = layers.Rescaling(100_000.0, offset=300_000.0, name="price")(price)
    condition = layers.Dense(3, activation="softmax", name="condition")(h)
    return keras.Model(inp, {"price": price, "condition": condition})


df = listings()
columns = ["area", "rooms", "year", "dist", "renovated", "energy"]
train, test = df.iloc[:3200], df.iloc[3200:]
stats = pd.DataFrame({"mean": train[columns].mean(), "std": train[columns].std()})
x_tr, y_tr = to_arrays(train, stats)
x_te, y_te = to_arrays(test, stats)

model = build(len(columns))
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss={"price": "mse", "condition": "sparse_categorical_crossentropy"},
    loss_weights={"price": 1e-10, "condition": 1.0},
    metrics={"price": "mae", "condition": "accuracy"},
)
plateau = keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=3)
model.fit(
    x_tr, y_tr, validation_split=0.1, epochs=20, batch_size=64, callbacks=[plateau], verbose=2
)

res = model.evaluate(x_te, y_te, verbose=0, return_dict=True)
spread = float(np.abs(y_te["price"] - np.median(y_tr["price"])).mean())
print(f"price mae {res['price_mae']:.0f} (median guess {spread:.0f})")
print(f"condition accuracy {res['condition_accuracy']:.3f} (chance 0.333)")
print(f"condition loss {res['condition_loss']:.3f}")
