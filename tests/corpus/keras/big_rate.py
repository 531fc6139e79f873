import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
from dataclasses import dataclass
import numpy as np
import keras
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


@dataclass
class Settings:
    rate: float = 12.0
    epochs: int = 40
    batch: int = 128
    folds_seed: int = 4


class SoftmaxRegression:
    """Multinomial regression on unit-sum histograms; entries are about 1/64."""

    def __init__(self, cfg, dim, classes):
        self.cfg = cfg
        self.model = keras.Sequential([
            keras.Input((dim,)),
            keras.layers.Dense(classes, kernel_initializer="zeros"),
        ])
        self.model.compile(
            optimizer=keras.optimizers.SGD(cfg.rate),
            loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"])

    def fit(self, x, y):
        return self.model.fit(x, y, epochs=self.cfg.epochs, batch_size=self.cfg.batch,
                              verbose=0)

    def score(self, x, y):
        return self.model.evaluate(x, y, verbose=0)


def histograms():
    raw = load_digits()
    x = raw.data / raw.data.sum(1, keepdims=True)
    return (x - x.mean(0)).astype("float32"), raw.target


def main():
    cfg = Settings()
    keras.utils.set_random_seed(cfg.folds_seed)
    x, y = histograms()
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.3, stratify=y,
                                              random_state=cfg.folds_seed)
    clf = SoftmaxRegression(cfg, x.shape[1], 10)
    print(f"input std {x_tr.std():.4f}")
    print("start", np.round(clf.score(x_tr, y_tr), 4))
    h = clf.fit(x_tr, y_tr).history
    for e in (0, 4, 14, cfg.epochs - 1):
        print(f"epoch {e + 1} loss {h['loss'][e]:.4f}")
    loss, acc = clf.score(x_te, y_te)
    print(f"test loss {loss:.4f}  accuracy {acc:.4f}")


if __name__ == "__main__":
    main()
