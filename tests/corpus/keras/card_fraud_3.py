"""Find fraudulent card payments in a table; keep the best weights by validation AUC."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import pandas as pd
import keras
from keras import layers


def payments(n, seed):
    rng = np.random.default_rng(seed)
    df = pd.DataFrame({
        "amount": rng.lognormal(3, 1, n),
        "hour": rng.integers(0, 24, n),
        "distance_km": rng.gamma(1.5, 8, n),
        "tries": rng.poisson(0.6, n),
        "age_days": rng.uniform(1, 2000, n),
        "abroad": rng.integers(0, 2, n),
    })
    night = ((df.hour < 6) | (df.hour > 22)).astype(float)
    score = (2.2 * night * df.abroad + 1.2 * (np.log(df.amount) - 3) * (df.age_days < 500)
             + 0.09 * df.distance_km * night + 1.1 * df.tries * df.abroad)
    df["fraud"] = (score + rng.normal(0, 0.5, n) > 3.2).astype(int)
    return df


def features(df, stats=None):
    x = pd.DataFrame({
        "amount": np.log(df.amount), "hs": np.sin(df.hour * np.pi / 12), "hc": np.cos(df.hour * np.pi / 12),
        "dist": np.log1p(df.distance_km), "tries": df.tries, "age": df.age_days, "abroad": df.abroad,
    })
    stats = stats or (x.mean(), x.std())
    return ((x - stats[0]) / stats[1]).to_numpy("float32"), stats


class FraudModel:
    def __init__(self, width=48, lr=3e-4):
        self.net = keras.Sequential([
            keras.Input((7,)),
            layers.Dense(width, activation="relu"),
            layers.Dense(width, activation="relu"),
            layers.Dense(1, activation="sigmoid"),
        ])
        self.net.compile(
            optimizer=keras.optimizers.Adam(lr),
            loss="binary_crossentropy",
            metrics=[keras.metrics.AUC(name="auc", curve="PR")],
        )

    def train(self, x, y, xv, yv, epochs=40):
        stop = keras.callbacks.EarlyStopping(
            monitor="val_auc", mode="min", patience=5, restore_best_weights=True, verbose=1
        )
        return self.net.fit(x, y, validation_data=(xv, yv), epochs=epochs,
                            batch_size=128, callbacks=[stop], verbose=2)

    def report(self, x, y, k=200):
        p = self.net.predict(x, verbose=0)[:, 0]
        top = np.argsort(-p)[:k]
        print("PR-AUC %.3f" % self.net.evaluate(x, y, verbose=0)[1])
        print("precision in the top %d: %.3f" % (k, y[top].mean()))


if __name__ == "__main__":
    keras.utils.set_random_seed(2)
    tr, va, te = payments(12000, 1), payments(3000, 2), payments(4000, 3)
    x, st = features(tr)
    print("share of fraud", tr.fraud.mean())
    m = FraudModel()
    m.train(x, tr.fraud.to_numpy(), features(va, st)[0], va.fraud.to_numpy())
    m.report(features(te, st)[0], te.fraud.to_numpy())
