import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import keras
from keras import layers
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

SEED = 8
FOLDS = 3


def customers():
    x, y = make_classification(n_samples=3500, n_features=20, n_informative=8,
                               n_redundant=2, n_clusters_per_class=2, weights=[0.9],
                               class_sep=1.2, flip_y=0.05, random_state=SEED)
    cut = 1500
    return (x[:cut], y[:cut]), (x[cut:], y[cut:])


def oversample(x, y, rng):
    pos = np.where(y == 1)[0]
    neg = np.where(y == 0)[0]
    extra = rng.choice(pos, len(neg) - len(pos), replace=True)
    idx = rng.permutation(np.concatenate([neg, pos, extra]))
    return x[idx], y[idx]


def make_net(n_features):
    net = keras.Sequential([
        layers.Input((n_features,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(1, activation="sigmoid"),
    ])
    net.compile(optimizer=keras.optimizers.Adam(2e-3), loss="binary_crossentropy",
                metrics=["accuracy"])
    return net


class ChurnModel:
    def __init__(self, epochs=15):
        self.epochs = epochs

    def fit(self, x, y):
        self.scaler = StandardScaler().fit(x)
        self.net = make_net(x.shape[1])
        self.net.fit(self.scaler.transform(x), y, epochs=self.epochs,
                     batch_size=64, verbose=0)
        return self

    def predict(self, x):
        p = self.net.predict(self.scaler.transform(x), verbose=0)
        return (p.ravel() > 0.5).astype(int)


def cross_validate(x, y, rng):
    scores = []
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    for k, (tr, va) in enumerate(folds.split(x, y)):
        x_fit, y_fit = oversample(x[tr], y[tr], rng)
        model = ChurnModel().fit(x_fit, y_fit)
        pred = model.predict(x[va])
        scores.append(f1_score(y[va], pred))
        print(f"fold {k}: f1 {scores[-1]:.4f} accuracy {(pred == y[va]).mean():.4f}")
    return float(np.mean(scores))


def main():
    keras.utils.set_random_seed(SEED)
    rng = np.random.default_rng(SEED)
    (x, y), (x_next, y_next) = customers()
    print("churn rate", y.mean())
    cv = cross_validate(x, y, rng)
    final = ChurnModel().fit(*oversample(x, y, rng))
    nxt = f1_score(y_next, final.predict(x_next))
    print(f"cross-validated f1 {cv:.4f}")
    print(f"f1 on next quarter's customers {nxt:.4f}")


if __name__ == "__main__":
    main()
