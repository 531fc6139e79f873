"""Cross-validated CNN on small digit images, driven by a dataclass of settings."""
from dataclasses import asdict, dataclass

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold


@dataclass
class Settings:
    filters: int = 16
    dense: int = 48
    dropout: float = 0.1
    optimizer: str = "adadelta"
    batch_size: int = 32
    epochs: int = 6
    patience: int = 3
    folds: int = 2
    seed: int = 3


def build(cfg):
    model = keras.Sequential(
        [
            keras.Input(shape=(8, 8, 1)),
            layers.Conv2D(cfg.filters, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(2 * cfg.filters, 3, padding="same", activation="relu"),
            layers.Flatten(),
            layers.Dense(cfg.dense, activation="relu"),
            layers.Dropout(cfg.dropout),
            layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile(
        optimizer=cfg.optimizer,
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return model


def run_fold(cfg, fold, train, held_out):
    keras.utils.set_random_seed(cfg.seed + fold)
    model = build(cfg)
    stop = keras.callbacks.EarlyStopping(
        monitor="val_loss", patience=cfg.patience, restore_best_weights=True
    )
    hist = model.fit(
        *train,
        validation_split=0.1,
        epochs=cfg.epochs,
        batch_size=cfg.batch_size,
        callbacks=[stop],
        verbose=0,
    )
    loss, acc = model.evaluate(*held_out, verbose=0)
    first, last = hist.history["loss"][0], hist.history["loss"][-1]
    print(f"fold {fold}: loss {first:.3f} -> {last:.3f}, held-out loss {loss:.3f}, accuracy {acc:.3f}")
    return acc


def main():
    cfg = Settings()
    print(asdict(cfg))
    x, y = load_digits(return_X_y=True)
    x = (x.reshape(-1, 8, 8, 1) / 16.0).astype("float32")
    splitter = StratifiedKFold(cfg.folds, shuffle=True, random_state=cfg.seed)
    scores = []
    for fold, (tr, te) in enumerate(splitter.split(x, y)):
        scores.append(run_fold(cfg, fold, (x[tr], y[tr]), (x[te], y[te])))
    print(f"mean accuracy {np.mean(scores):.3f} +- {np.std(scores):.3f}  (chance 0.100)")


if __name__ == "__main__":
    main()
