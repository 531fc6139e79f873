import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import pandas as pd
import tensorflow as tf
import keras

keras.utils.set_random_seed(17)
BANDS = ["slow", "steady", "brisk", "hot"]


def make_sales(n=3000):
    rng = np.random.default_rng(3)
    df = pd.DataFrame({
        "price": rng.lognormal(2.5, 0.5, n),
        "discount": rng.choice([0, 0.05, 0.1, 0.25, 0.4], n, p=[.5, .2, .15, .1, .05]),
        "shelf_height": rng.integers(1, 6, n),
        "weekday": rng.integers(0, 7, n),
        "store": rng.integers(0, 12, n),
        "temperature": rng.normal(14, 8, n),
        "competitor_price": rng.lognormal(2.5, 0.5, n),
    })
    store_effect = rng.normal(0, 0.5, 12)
    latent = (-1.2 * np.log(df.price / df.competitor_price) + 3.0 * df.discount
              + 0.6 * (df.weekday >= 5) + store_effect[df.store]
              - 0.25 * np.abs(df.shelf_height - 3) + 0.02 * df.temperature
              + rng.normal(0, 0.25, n))
    df["band"] = pd.qcut(latent, 4, labels=False)
    return df


class FeatureCross(keras.layers.Layer):
    """Cross layer of a deep-and-cross network: x0 * (W x + b) + x"""

    def build(self, shape):
        dim = shape[0][-1]
        self.w = self.add_weight(shape=(dim, dim), name="w",
                                 initializer=keras.initializers.RandomNormal(stddev=0.02))
        self.b = self.add_weight(shape=(dim,), initializer="zeros", name="b")

    def call(self, inputs):
        x0, x = inputs
        return x0 * (keras.ops.matmul(x, self.w) + self.b) + x


def build_model(dim):
    inp = keras.Input((dim,))
    x = inp
    for _ in range(3):
        x = FeatureCross()([inp, x])
    deep = keras.layers.Dense(32, activation="relu")(inp)
    x = keras.layers.Concatenate()([x, deep])
    out = keras.layers.Dense(len(BANDS))(x)
    return keras.Model(inp, out)


df = make_sales()
onehot = pd.get_dummies(df, columns=["weekday", "store"], dtype="float32")
y = onehot.pop("band").to_numpy()
X = onehot.to_numpy("float32")
order = np.random.default_rng(0).permutation(len(X))
train, test = order[:2400], order[2400:]
mu, sd = X[train].mean(0), X[train].std(0)
X = (X - mu) / sd

model = build_model(X.shape[1])
model.compile(optimizer=keras.optimizers.Adam(1e-3),
              loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
              metrics=["accuracy"])
first = model.evaluate(X[train], y[train], verbose=0)
print(f"before training: loss {first[0]:.3f}")
hist = model.fit(X[train], y[train], epochs=15, batch_size=64,
                 validation_data=(X[test], y[test]), verbose=2)
loss, acc = model.evaluate(X[test], y[test], verbose=0)
print(f"test loss {loss:.4f}  accuracy {acc:.4f}  majority {np.bincount(y[test]).max() / len(test):.4f}")
