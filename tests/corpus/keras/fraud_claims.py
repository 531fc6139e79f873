"""
Claims fraud screening.  About 8 % of the claims are fraudulent, so the rare class is
resampled for the network; we look at average precision and recall at a 0.5 cut.
"""
import argparse

import keras
import numpy as np
import pandas as pd
from keras import layers
from sklearn.metrics import average_precision_score, f1_score, recall_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.utils import resample

NUMERIC = ["amount", "delay_days", "age", "tenure", "n_prior", "km_from_home", "hour", "n_parties"]


def load_claims(n, seed):
    rng = np.random.default_rng(seed)
    df = pd.DataFrame(
        {
            "amount": rng.lognormal(7.2, 0.8, n),
            "delay_days": rng.exponential(6, n),
            "age": rng.normal(44, 13, n),
            "tenure": rng.gamma(2, 3, n),
            "n_prior": rng.poisson(0.8, n),
            "km_from_home": rng.exponential(20, n),
            "hour": rng.integers(0, 24, n),
            "n_parties": 1 + rng.poisson(0.7, n),
        }
    )
    night = (df.hour < 5).astype(float)
    z = (
        0.9 * (np.log(df.amount) - 7.2)
        + 0.09 * df.delay_days
        - 0.12 * df.tenure
        + 0.5 * df.n_prior
        + 0.8 * night
        + 0.012 * df.km_from_home
        + rng.logistic(0, 0.35, n)
    )
    df["fraud"] = (z > np.quantile(z, 0.92)).astype(int)
    return df


def balance(x, y, seed):
    pos, neg = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    pos = resample(pos, replace=True, n_samples=len(neg), random_state=seed)
    idx = np.random.default_rng(seed).permutation(np.concatenate([pos, neg]))
    return x[idx], y[idx]


def build(n_in, hidden, dropout):
    return keras.Sequential(
        [
            layers.Input((n_in,)),
            layers.Dense(hidden, activation="relu"),
            layers.Dropout(dropout),
            layers.Dense(hidden, activation="relu"),
            layers.Dense(1, activation="sigmoid"),
        ]
    )


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--rows", type=int, default=4000)
    p.add_argument("--epochs", type=int, default=25)
    p.add_argument("--hidden", type=int, default=64)
    p.add_argument("--dropout", type=float, default=0.1)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--seed", type=int, default=0)
    return p.parse_args()


def main(a):
    keras.utils.set_random_seed(a.seed)
    df = load_claims(a.rows, a.seed)
    x = df[NUMERIC].assign(amount=np.log(df.amount)).to_numpy("float32")
    y = df.fraud.to_numpy()

    x, y = balance(x, y, a.seed)
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.25, stratify=y, random_state=a.seed)
    scaler = StandardScaler().fit(x_tr)
    x_tr, x_te = scaler.transform(x_tr), scaler.transform(x_te)
    print(f"train {x_tr.shape}, fraud share {y_tr.mean():.3f}; test {x_te.shape}, fraud share {y_te.mean():.3f}")

    model = build(x.shape[1], a.hidden, a.dropout)
    model.compile(
        optimizer=keras.optimizers.Adam(a.lr),
        loss="binary_crossentropy",
        metrics=[keras.metrics.AUC(name="auc")],
    )
    model.fit(x_tr, y_tr, batch_size=64, epochs=a.epochs, verbose=2)

    p = model.predict(x_te, verbose=0).ravel()
    hit = p > 0.5
    print(
        f"test AP {average_precision_score(y_te, p):.3f} (random {y_te.mean():.3f})  "
        f"recall {recall_score(y_te, hit):.3f}  F1 {f1_score(y_te, hit):.3f}"
    )


if __name__ == "__main__":
    main(parse())
