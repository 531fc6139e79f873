import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tempfile

import keras
import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

CONFIG = {
    "seed": 11,
    "hidden": [64, 32],
    "dropout": 0.1,
    "optimizer": {"learning_rate": 8e-4, "clipnorm": 1.0},
    "batch_size": 64,
    "epochs": 25,
    "early_stopping": {
        "monitor": "val_auc",
        "mode": "max",
        "patience": 6,
        "restore_best_weights": True,
    },
}


def load_admissions(n=6000, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.normal(63, 14, n).clip(18, 97)
    stay = rng.gamma(2.0, 2.5, n)
    prior = rng.poisson(1.2, n)
    creatinine = rng.lognormal(0.1, 0.45, n)
    sodium = rng.normal(139, 4, n)
    meds = rng.integers(0, 22, n)
    discharge_home = rng.integers(0, 2, n)
    noise = rng.normal(0, 1, (n, 6))
    z = (
        1.5 * np.tanh((creatinine - 1.2) * 2) * (discharge_home * 2 - 1)
        + 0.5 * ((sodium - 139) / 4) ** 2
        + 0.9 * (prior > 2)
        + 0.04 * (age - 63) * np.where(stay > 5, 1, -1)
        + 0.05 * (meds - 10)
        - 2.0
    )
    y = (rng.random(n) < 1 / (1 + np.exp(-1.6 * z))).astype("float32")
    x = np.column_stack([age, stay, prior, creatinine, sodium, meds, discharge_home, noise])
    return x.astype("float32"), y


class ReadmissionModel:
    def __init__(self, config):
        self.config = config
        self.scaler = StandardScaler()
        self.net = None

    def _build(self, width):
        inp = keras.Input((width,))
        h = inp
        for units in self.config["hidden"]:
            h = keras.layers.Dense(units, activation="gelu")(h)
            h = keras.layers.Dropout(self.config["dropout"])(h)
        out = keras.layers.Dense(1, activation="sigmoid")(h)
        net = keras.Model(inp, out)
        net.compile(
            optimizer=keras.optimizers.Adam(**self.config["optimizer"]),
            loss="binary_crossentropy",
            metrics=[keras.metrics.AUC(name="auc")],
        )
        return net

    def fit(self, x, y, x_val, y_val):
        x = self.scaler.fit_transform(x)
        x_val = self.scaler.transform(x_val)
        self.net = self._build(x.shape[1])
        log_path = os.path.join(tempfile.mkdtemp(), "history.csv")
        callbacks = [
            keras.callbacks.EarlyStopping(**self.config["early_stopping"]),
            keras.callbacks.CSVLogger(log_path),
        ]
        return self.net.fit(
            x,
            y,
            validation_data=(x_val, y_val),
            epochs=self.config["epochs"],
            batch_size=self.config["batch_size"],
            callbacks=callbacks,
            verbose=2,
        )

    def predict_proba(self, x):
        return self.net.predict(self.scaler.transform(x), verbose=0)[:, 0]


def main():
    keras.utils.set_random_seed(CONFIG["seed"])
    x, y = load_admissions()
    x_tmp, x_test, y_tmp, y_test = train_test_split(x, y, test_size=0.2, stratify=y, random_state=1)
    x_tr, x_val, y_tr, y_val = train_test_split(x_tmp, y_tmp, test_size=0.2, stratify=y_tmp, random_state=1)
    clf = ReadmissionModel(CONFIG)
    hist = clf.fit(x_tr, y_tr, x_val, y_val)
    p = clf.predict_proba(x_test)
    print("epochs run:", len(hist.history["loss"]))
    print(f"base rate {y_test.mean():.3f}")
    print(f"test AUC {roc_auc_score(y_test, p):.3f}  average precision {average_precision_score(y_test, p):.3f}")


if __name__ == "__main__":
    main()
