"""Monthly rents from mostly categorical columns: learned tables per column, plus a small head."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

SEED = 14
COLUMNS = {"district": 180, "street_type": 30, "agency": 250, "heating": 8}
keras.utils.set_random_seed(SEED)


def make_table(n=12000):
    rng = np.random.default_rng(SEED)
    cols = {c: rng.integers(0, k, n) for c, k in COLUMNS.items()}
    effect = {c: rng.normal(size=k) for c, k in COLUMNS.items()}
    size = rng.gamma(6.0, 12.0, n)
    age = rng.uniform(0, 90, n)
    log_rent = (
        6.0
        + 0.008 * size
        - 0.002 * age
        + 0.25 * effect["district"][cols["district"]]
        + 0.10 * effect["street_type"][cols["street_type"]]
        + 0.18 * effect["agency"][cols["agency"]]
        + 0.05 * effect["heating"][cols["heating"]]
        + 0.05 * rng.normal(size=n)
    )
    numeric = np.stack([(size - 72) / 30, (age - 45) / 26], 1).astype("float32")
    cat = np.stack([cols[c] for c in COLUMNS], 1).astype("int32")
    return cat, numeric, log_rent.astype("float32")


class ColumnTables(layers.Layer):
    """One learned table per categorical column; rows are looked up and concatenated."""

    def __init__(self, columns, width, **kw):
        super().__init__(**kw)
        self.columns = columns
        self.width = width

    def build(self, input_shape):
        self.tables = {
            name: self.add_weight((rows, self.width), keras.initializers.RandomNormal(stddev=0.1), name=name)
            for name, rows in self.columns.items()
        }

    def call(self, ids):
        parts = [ops.take(self.tables[n], ids[:, j], axis=0) for j, n in enumerate(self.columns)]
        return ops.concatenate(parts, axis=-1)


def build_model():
    cat = keras.Input((len(COLUMNS),), dtype="int32")
    num = keras.Input((2,))
    h = layers.Concatenate()([ColumnTables(COLUMNS, 6)(cat), num])
    h = layers.Dense(48, activation="relu")(h)
    h = layers.Dense(24, activation="relu")(h)
    return keras.Model([cat, num], layers.Dense(1)(h)[:, 0])


cat, num, y = make_table()
cut = 10000
mu, sd = y[:cut].mean(), y[:cut].std()
model = build_model()
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse", metrics=["mae"])
model.summary()
model.fit(
    [cat[:cut], num[:cut]], (y[:cut] - mu) / sd,
    validation_data=([cat[cut:], num[cut:]], (y[cut:] - mu) / sd),
    epochs=20, batch_size=128, verbose=2,
    callbacks=[keras.callbacks.ReduceLROnPlateau(patience=3, factor=0.3)],
)
pred = model.predict([cat[cut:], num[cut:]], verbose=0) * sd + mu
r2 = 1 - np.sum((pred - y[cut:]) ** 2) / np.sum((y[cut:] - y[cut:].mean()) ** 2)
print(f"held-out R2 {r2:.3f}, median error {np.median(np.abs(np.exp(pred - y[cut:]) - 1)):.1%}")
