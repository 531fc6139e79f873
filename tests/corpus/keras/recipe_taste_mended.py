import keras
import numpy as np
import pandas as pd
from keras import layers, ops


def simulate_ratings(n=9000, n_users=150, n_recipes=90, seed=6):
    rng = np.random.default_rng(seed)
    u_vec = rng.normal(0, 0.7, size=(n_users, 2))
    r_vec = rng.normal(0, 0.7, size=(n_recipes, 2))
    r_bias = rng.normal(0, 0.6, size=n_recipes)
    users = rng.integers(0, n_users, size=n)
    recipes = rng.integers(0, n_recipes, size=n)
    stars = 3.2 + r_bias[recipes] + (u_vec[users] * r_vec[recipes]).sum(1) + rng.normal(0, 0.3, n)
    return pd.DataFrame({
        "cook": [f"cook-{u:03d}" for u in users],
        "recipe": [f"dish_{r}" for r in recipes],
        "stars": np.clip(stars, 0.5, 5.5).astype("float32"),
    })


class TasteModel:
    def __init__(self, frame, dim=8):
        self.cook_names = sorted(frame["cook"].unique())
        self.recipe_names = sorted(frame["recipe"].unique())
        self.cook_index = layers.StringLookup(vocabulary=self.cook_names)
        self.recipe_index = layers.StringLookup(vocabulary=self.recipe_names)

        cook = keras.Input((), dtype="int64", name="cook")
        recipe = keras.Input((), dtype="int64", name="recipe")
        c = layers.Embedding(self.cook_index.vocabulary_size(), dim, name="cook_vec")(cook)
        r = layers.Embedding(self.recipe_index.vocabulary_size(), dim, name="recipe_vec")(recipe)
        b = layers.Embedding(self.recipe_index.vocabulary_size(), 1, name="recipe_bias")(recipe)
        dot = ops.sum(c * r, axis=-1, keepdims=True)
        out = layers.Dense(1, name="shift")(layers.Concatenate()([dot, b]))
        self.net = keras.Model({"cook": cook, "recipe": recipe}, out)
        self.net.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")

    def columns(self, frame):
        return {
            "cook": np.asarray(self.cook_index(frame["cook"].tolist())),
            "recipe": np.asarray(self.recipe_index(frame["recipe"].tolist())),
        }

    def fit(self, frame, epochs=12):
        history = self.net.fit(
            self.columns(frame),
            frame["stars"].to_numpy()[:, None],
            batch_size=128,
            epochs=epochs,
            validation_split=0.1,
            verbose=0,
        )
        for e in range(0, epochs, 4):
            print(f"epoch {e + 1}: loss {history.history['loss'][e]:.4f} val {history.history['val_loss'][e]:.4f}")
        return self

    def rmse(self, frame):
        pred = self.net.predict(self.columns(frame), verbose=0)[:, 0]
        return float(np.sqrt(np.mean((pred - frame["stars"].to_numpy()) ** 2)))


if __name__ == "__main__":
    keras.utils.set_random_seed(6)
    ratings = simulate_ratings().sample(frac=1.0, random_state=6)
    train, test = ratings.iloc[:7500], ratings.iloc[7500:]
    taste = TasteModel(ratings).fit(train)
    base = float(np.sqrt(np.mean((train["stars"].mean() - test["stars"]) ** 2)))
    print(f"test rmse {taste.rmse(test):.4f}   mean predictor {base:.4f}")
