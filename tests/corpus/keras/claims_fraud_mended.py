import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import pandas as pd
from keras import layers
from sklearn.metrics import average_precision_score, balanced_accuracy_score, recall_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.utils import resample


def simulate_claims(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 12))
    score = 2.4 * x[:, 0] - 2.0 * x[:, 3] + 1.6 * x[:, 7] + 0.8 * x[:, 1] * x[:, 5] - 8.0
    fraud = rng.random(n) < 1 / (1 + np.exp(-score))
    df = pd.DataFrame(x, columns=[f"v{i:02d}" for i in range(12)])
    df["fraud"] = fraud.astype(int)
    return df


def balance(df, seed=0):
    minority = df[df.fraud == 1]
    majority = df[df.fraud == 0]
    extra = resample(minority, replace=True, n_samples=len(majority), random_state=seed)
    return pd.concat([majority, extra]).sample(frac=1.0, random_state=seed)


class FraudModel:
    def __init__(self, width=64, lr=2e-3, epochs=10):
        self.width, self.lr, self.epochs = width, lr, epochs
        self.scaler = StandardScaler()

    def _features(self, df):
        return df.drop(columns="fraud").to_numpy("float32")

    def fit(self, df):
        x = self.scaler.fit_transform(self._features(df))
        self.net = keras.Sequential([
            keras.Input((x.shape[1],)),
            layers.Dense(self.width, activation="relu"),
            layers.Dense(self.width // 2, activation="relu"),
            layers.Dense(1),
        ])
        self.net.compile(keras.optimizers.Adam(self.lr),
                         loss=keras.losses.BinaryCrossentropy(from_logits=True))
        self.net.fit(x, df.fraud.to_numpy("float32"), epochs=self.epochs, batch_size=256, verbose=0)
        return self

    def score(self, df):
        logits = self.net.predict(self.scaler.transform(self._features(df)), verbose=0)[:, 0]
        y = df.fraud.to_numpy()
        return {"recall": recall_score(y, logits > 0),
                "balanced_acc": balanced_accuracy_score(y, logits > 0),
                "avg_precision": average_precision_score(y, logits),
                "fraud_share": y.mean()}


def show(title, figures):
    print(f"{title:<12}" + "  ".join(f"{k} {v:.3f}" for k, v in figures.items()))


def main():
    keras.utils.set_random_seed(2)
    claims = simulate_claims(12000, seed=1)
    train, test = train_test_split(claims, test_size=0.25, stratify=claims.fraud, random_state=4)
    model = FraudModel().fit(balance(train))
    show("train", model.score(train))
    show("test", model.score(test))
    show("next year", model.score(simulate_claims(12000, seed=77)))


if __name__ == "__main__":
    main()
