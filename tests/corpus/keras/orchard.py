"""Predict the weekly price of a crate of fruit from where, what and when."""
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(11)

VARIETIES = ["gala", "fuji", "braeburn", "jonagold", "elstar", "cox", "pinova", "topaz"]
REGIONS = ["north", "coast", "valley", "hills", "lake"]


def make_rows(n, rng):
    variety = rng.choice(VARIETIES, n)
    region = rng.choice(REGIONS, n)
    week = rng.integers(1, 53, n).astype("float32")
    base = {v: 8 + 1.7 * i for i, v in enumerate(VARIETIES)}
    extra = {r: e for r, e in zip(REGIONS, [0.0, 2.5, -1.0, 1.2, 4.0])}
    price = np.array([base[v] + extra[r] for v, r in zip(variety, region)])
    price = price + 3 * np.sin(2 * np.pi * week / 52) + rng.normal(0, 0.5, n)
    x = {
        "variety": variety.astype(object)[:, None],
        "region": region.astype(object)[:, None],
        "week": week[:, None],
    }
    return x, price.astype("float32")[:, None]


def text_column(name, values, dim):
    vocab = sorted(set(values[name][:, 0]))
    inp = keras.Input((1,), name=name, dtype="string")
    ids = layers.StringLookup(vocabulary=vocab, name=name + "_ids")(inp)
    vec = layers.Embedding(len(vocab), dim, name=name + "_emb")(ids)
    return inp, layers.Flatten()(vec)


def number_column(name, values):
    norm = layers.Normalization(axis=None, name=name + "_norm")
    norm.adapt(values[name])
    inp = keras.Input((1,), name=name)
    return inp, norm(inp)


def build(x):
    inputs, parts = {}, []
    for name, dim in (("variety", 6), ("region", 4)):
        inputs[name], vec = text_column(name, x, dim)
        parts.append(vec)
    inputs["week"], vec = number_column("week", x)
    parts.append(vec)
    h = layers.Concatenate()(parts)
    h = layers.Dense(48, activation="relu")(h)
    h = layers.Dense(24, activation="relu")(h)
    return keras.Model(inputs, layers.Dense(1)(h))


def as_tensors(x):
    import tensorflow as tf

    return {k: tf.constant(v.tolist()) if v.dtype == object else tf.constant(v) for k, v in x.items()}


def main():
    rng = np.random.default_rng(4)
    x_train, y_train = make_rows(3000, rng)
    x_test, y_test = make_rows(600, rng)

    model = build(x_train)
    model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mse", metrics=["mae"])
    model.summary()
    model.fit(as_tensors(x_train), y_train, batch_size=64, epochs=15, validation_split=0.1, verbose=2)
    mse, mae = model.evaluate(as_tensors(x_test), y_test, verbose=0)
    print(f"test mae {mae:.2f} per crate, a constant guess gives {np.abs(y_test - y_train.mean()).mean():.2f}")


if __name__ == "__main__":
    main()
