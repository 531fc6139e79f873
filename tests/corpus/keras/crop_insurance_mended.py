"""Predict whether an insured field will file a claim this season."""
import argparse
import json
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import pandas as pd
import keras
from keras import layers
from sklearn.metrics import roc_auc_score, average_precision_score

CATEGORIES = {"crop": ["maize", "wheat", "soy", "rape"], "soil": ["loam", "clay", "sand"]}


def season(n, seed):
    """One row per field, as exported from the claims system."""
    r = np.random.default_rng(seed)
    df = pd.DataFrame({
        "crop": r.choice(CATEGORIES["crop"], n),
        "soil": r.choice(CATEGORIES["soil"], n, p=[0.5, 0.3, 0.2]),
        "area_ha": r.gamma(3.0, 6.0, n),
        "slope": r.exponential(3.0, n),
        "irrigated": r.integers(0, 2, n),
        "spring_rain": r.normal(180, 45, n),
        "insured_value": r.normal(1400, 250, n),
    })
    dry = (190 - df.spring_rain) / 45
    z = -0.7 + 1.5 * dry * (1 - 0.8 * df.irrigated) + 0.18 * (df.slope - 3)
    z += np.where(df.soil == "sand", 1.3, 0) + np.where((df.crop == "maize") & (dry > 0), 1.0, 0)
    z += np.where((df.crop == "rape") & (df.soil == "clay"), 1.4, 0)
    df["claim"] = (r.logistic(0, 0.8, n) + z > 0).astype(int)
    loss_share = np.where(df.claim == 1, r.beta(3, 4, n), 0.05 * r.beta(1, 5, n))
    df["payout_eur"] = np.round(df.claim * loss_share * df.insured_value * df.area_ha)
    return df


def open_season(n, seed):
    """Fields of the season that is just starting."""
    df = season(n, seed)
    df["payout_eur"] = 0.0
    return df


TARGET = "claim"
NUMERIC = ["area_ha", "slope", "irrigated", "spring_rain", "insured_value"]


class Encoder:
    def fit(self, df):
        self.mean = df[NUMERIC].mean()
        self.std = df[NUMERIC].std().replace(0, 1)
        return self

    def transform(self, df):
        cols = [((df[NUMERIC] - self.mean) / self.std).to_numpy()]
        for c, values in CATEGORIES.items():
            cols.append((df[c].to_numpy()[:, None] == np.array(values)[None]).astype(float))
        return np.concatenate(cols, axis=1).astype("float32")


def network(n_in):
    inp = keras.Input((n_in,))
    x = layers.Dense(48, activation="relu")(inp)
    x = layers.Dropout(0.15)(x)
    x = layers.Dense(24, activation="relu")(x)
    return keras.Model(inp, layers.Dense(1, activation="sigmoid")(x))


def report(tag, y, p):
    row = {"auc": round(float(roc_auc_score(y, p)), 3), "ap": round(float(average_precision_score(y, p)), 3),
           "acc": round(float(np.mean((p > 0.5) == y)), 3), "base": round(float(max(y.mean(), 1 - y.mean())), 3)}
    print(f"{tag:18s}", json.dumps(row))
    return row


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=15)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--out", default="out")
    args = ap.parse_args()
    keras.utils.set_random_seed(19)

    history = season(5000, 1)
    train, valid = history.iloc[:4000], history.iloc[4000:]
    enc = Encoder().fit(train)
    model = network(enc.transform(train.head(1)).shape[1])
    model.compile(keras.optimizers.Adam(args.lr), "binary_crossentropy", metrics=["accuracy"])
    model.fit(enc.transform(train), train[TARGET].to_numpy(),
              validation_data=(enc.transform(valid), valid[TARGET].to_numpy()),
              epochs=args.epochs, batch_size=64, verbose=2)

    coming = open_season(2000, 2)
    rows = {}
    for tag, df in (("validation", valid), ("season under way", coming)):
        p = model.predict(enc.transform(df), batch_size=512, verbose=0).ravel()
        rows[tag] = report(tag, df[TARGET].to_numpy(), p)
    os.makedirs(args.out, exist_ok=True)
    pd.Series(rows).to_json(os.path.join(args.out, "crop_insurance.json"))


if __name__ == "__main__":
    main()
