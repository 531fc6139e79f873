import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import pandas as pd
import keras
from keras import layers
from sklearn.metrics import accuracy_score, mean_absolute_error, recall_score
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)

# flats for sale: price (in 1000s) and whether the flat was sold within a month
n = 3000
df = pd.DataFrame({
    "area": rng.uniform(25, 160, n),
    "rooms": rng.integers(1, 6, n),
    "floor": rng.integers(0, 12, n),
    "year": rng.integers(1930, 2022, n),
    "district": rng.choice(["north", "south", "harbour", "old town"], n),
})
premium = df.district.map({"north": 0, "south": 20, "harbour": 90, "old town": 60})
df["price"] = 2.4 * df.area + 12 * df.rooms + premium + 0.5 * (df.year - 1930) + rng.normal(0, 15, n)
appeal = 0.03 * (df.year - 1975) - 0.02 * (df.area - 90) + (df.district == "harbour") * 1.5 - 0.3
df["fast_sale"] = (appeal + rng.logistic(0, 0.5, n) > 0).astype(int)

train_df, test_df = train_test_split(df, test_size=0.2, random_state=1)
numeric = ["area", "rooms", "floor", "year"]

norm = layers.Normalization()
norm.adapt(train_df[numeric].values.astype("float32"))
lookup = layers.StringLookup(vocabulary=sorted(train_df.district.unique()))
price_mean, price_std = train_df.price.mean(), train_df.price.std()


def inputs_of(frame):
    return {
        "numeric": frame[numeric].values.astype("float32"),
        "district": lookup(frame[["district"]].values.astype(str)),
    }


def targets_of(frame):
    return {
        "price": ((frame.price - price_mean) / price_std).values.astype("float32"),
        "fast_sale": frame.fast_sale.values.astype("float32"),
    }


num_in = keras.Input((4,), name="numeric")
dis_in = keras.Input((1,), name="district", dtype="int64")
d = layers.Flatten()(layers.Embedding(lookup.vocabulary_size(), 3)(dis_in))
trunk = layers.Concatenate()([norm(num_in), d])
trunk = layers.Dense(48, activation="relu")(trunk)
trunk = layers.Dense(24, activation="relu")(trunk)
price_out = layers.Dense(1, name="price")(trunk)
sale_out = layers.Dense(1, activation="sigmoid", name="fast_sale")(trunk)

model = keras.Model({"numeric": num_in, "district": dis_in},
                    {"price": price_out, "fast_sale": sale_out})
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss={"price": "mse", "fast_sale": "binary_crossentropy"},
    loss_weights={"price": 1.0, "fast_sale": 1.0},
)
model.fit(inputs_of(train_df), targets_of(train_df), epochs=12, batch_size=32,
          validation_split=0.1, verbose=2)

out = model.predict(inputs_of(test_df), verbose=0)
price_hat = out["price"][:, 0] * price_std + price_mean
sale_hat = np.argmax(out["fast_sale"], axis=1)

print("price MAE        :", mean_absolute_error(test_df.price, price_hat))
print("fast sale acc    :", accuracy_score(test_df.fast_sale, sale_hat))
print("fast sale recall :", recall_score(test_df.fast_sale, sale_hat))
