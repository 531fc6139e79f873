from dataclasses import dataclass

import numpy as np
import keras
from keras import layers
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler


@dataclass
class Config:
    patients: int = 110
    genes: int = 4000
    causal: int = 6
    effect: float = 0.62
    keep: int = 30
    folds: int = 5
    epochs: int = 30
    lr: float = 3e-3


def cohort(cfg, n, rng, direction):
    y = rng.integers(0, 2, n)
    x = rng.normal(size=(n, cfg.genes))
    x[:, : cfg.causal] += np.outer(2 * y - 1, direction)
    return np.exp2(x + 5.0), y


def build(cfg, n_in):
    model = keras.Sequential([
        keras.Input((n_in,)),
        layers.Dense(16, activation="relu", kernel_regularizer=keras.regularizers.L2(1e-2)),
        layers.Dropout(0.3),
        layers.Dense(1, activation="sigmoid"),
    ])
    model.compile(optimizer=keras.optimizers.Adam(cfg.lr), loss="binary_crossentropy", metrics=["accuracy"])
    return model


class Panel:
    def __init__(self, cfg):
        self.cfg = cfg

    def fit(self, x, y):
        self.scaler = StandardScaler().fit(x)
        self.net = build(self.cfg, x.shape[1])
        self.net.fit(self.scaler.transform(x), y, epochs=self.cfg.epochs, batch_size=16, verbose=0)
        return self

    def score(self, x, y):
        return self.net.evaluate(self.scaler.transform(x), y, verbose=0)[1]


def cross_validate(cfg, expr, y):
    scores = []
    for train, held in StratifiedKFold(cfg.folds, shuffle=True, random_state=0).split(expr, y):
        picker = SelectKBest(f_classif, k=cfg.keep).fit(expr[train], y[train])
        panel = Panel(cfg).fit(picker.transform(expr[train]), y[train])
        scores.append(panel.score(picker.transform(expr[held]), y[held]))
        print("fold", len(scores), "accuracy", round(scores[-1], 3))
    return float(np.mean(scores))


def main():
    cfg = Config()
    keras.utils.set_random_seed(8)
    rng = np.random.default_rng(8)
    direction = rng.choice([-1, 1], cfg.causal) * cfg.effect
    raw, y = cohort(cfg, cfg.patients, rng, direction)
    expr = np.log2(raw)

    cv = cross_validate(cfg, expr, y)

    raw_new, y_new = cohort(cfg, 600, rng, direction)
    picker = SelectKBest(f_classif, k=cfg.keep).fit(expr, y)
    final = Panel(cfg).fit(picker.transform(expr), y)
    later = final.score(picker.transform(np.log2(raw_new)), y_new)
    print(f"cross-validated accuracy {cv:.3f}")
    print(f"accuracy on the second cohort {later:.3f}")
    print(f"majority class {max(y.mean(), 1 - y.mean()):.3f}")


if __name__ == "__main__":
    main()
