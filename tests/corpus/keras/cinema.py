import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import pandas as pd
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)

# ---- ratings table -------------------------------------------------------
N_USERS, N_FILMS, N_ROWS = 300, 120, 12000
user_ids = 1000 + 7 * np.arange(N_USERS)
film_ids = 50 + 3 * np.arange(N_FILMS)
taste = rng.normal(size=(N_USERS, 3))
style = rng.normal(size=(N_FILMS, 3))
u = rng.integers(0, N_USERS, N_ROWS)
f = rng.integers(0, N_FILMS, N_ROWS)
score = 3.0 + 0.6 * (taste[u] * style[f]).sum(1) + rng.normal(0, 0.3, N_ROWS)
ratings = pd.DataFrame({"user": user_ids[u], "film": film_ids[f], "rating": np.clip(score, 0.5, 5.0)})
print(ratings.describe().loc[["mean", "std", "min", "max"]])

train = ratings.iloc[: int(0.85 * N_ROWS)]
test = ratings.iloc[int(0.85 * N_ROWS):]

user_vocab = np.sort(ratings["user"].unique())
film_vocab = np.sort(ratings["film"].unique())


class Tower(keras.Model):
    def __init__(self, vocabulary, dim=16, **kwargs):
        super().__init__(**kwargs)
        self.lookup = layers.IntegerLookup(vocabulary=vocabulary)
        self.embed = layers.Embedding(len(vocabulary), dim)
        self.hidden = layers.Dense(32, activation="relu")
        self.out = layers.Dense(dim)

    def call(self, ids):
        e = self.embed(self.lookup(ids))
        return e + self.out(self.hidden(e))


class TwoTower(keras.Model):
    def __init__(self, mean_rating):
        super().__init__()
        self.user_tower = Tower(user_vocab, name="users")
        self.film_tower = Tower(film_vocab, name="films")
        self.dot = layers.Dot(axes=-1)
        self.mean_rating = float(mean_rating)

    def call(self, inputs):
        return self.mean_rating + self.dot([self.user_tower(inputs["user"]), self.film_tower(inputs["film"])])


def to_ds(df, shuffle=False):
    feats = {"user": df["user"].to_numpy(), "film": df["film"].to_numpy()}
    ds = tf.data.Dataset.from_tensor_slices((feats, df["rating"].to_numpy("float32")))
    if shuffle:
        ds = ds.shuffle(len(df))
    return ds.batch(128).prefetch(2)


model = TwoTower(train["rating"].mean())
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse",
              metrics=[keras.metrics.RootMeanSquaredError(name="rmse")])
stop = keras.callbacks.EarlyStopping(monitor="val_rmse", mode="min", patience=3, restore_best_weights=True)
model.fit(to_ds(train, shuffle=True), validation_data=to_ds(test), epochs=20, callbacks=[stop], verbose=2)

baseline = float(np.sqrt(np.mean((test["rating"] - train["rating"].mean()) ** 2)))
rmse = model.evaluate(to_ds(test), verbose=0)[1]
print(f"baseline rmse {baseline:.3f}   two-tower rmse {rmse:.3f}")
