"""Five-fold cross validation of a small network on the breast cancer table."""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--folds", type=int, default=5)
    p.add_argument("--epochs", type=int, default=12)
    p.add_argument("--hidden", type=int, default=128)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--seed", type=int, default=5)
    return p.parse_args()


def load_table(seed, flip=0.12):
    """The clinic's second reading disagrees with the first on some rows."""
    x, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(seed)
    disagree = rng.random(len(y)) < flip
    y = np.where(disagree, 1 - y, y)
    return x.astype("float32"), y.astype("float32")


def build_model(n_features, hidden, lr):
    net = keras.Sequential(
        [
            keras.Input((n_features,)),
            layers.Dense(hidden, activation="relu"),
            layers.Dense(hidden, activation="relu"),
            layers.Dense(1, activation="sigmoid"),
        ]
    )
    net.compile(
        optimizer=keras.optimizers.Adam(lr),
        loss="binary_crossentropy",
        metrics=["accuracy"],
    )
    return net


def main():
    args = parse_args()
    keras.utils.set_random_seed(args.seed)
    x, y = load_table(args.seed)
    splitter = StratifiedKFold(args.folds, shuffle=True, random_state=args.seed)

    rows = []
    for fold, (tr, te) in enumerate(splitter.split(x, y)):
        model = build_model(x.shape[1], args.hidden, args.lr)
        scaler = StandardScaler().fit(x[tr])
        x_tr, x_te = scaler.transform(x[tr]), scaler.transform(x[te])
        model.fit(x_tr, y[tr], epochs=args.epochs, batch_size=32, verbose=0)
        loss, acc = model.evaluate(x_te, y[te], verbose=0)
        rows.append((loss, acc))
        print(f"fold {fold}: test loss {loss:.3f}  test accuracy {acc:.3f}")

    rows = np.array(rows)
    print("majority share", round(float(max(y.mean(), 1 - y.mean())), 3))
    print("mean test loss", round(float(rows[:, 0].mean()), 3))
    print(
        "mean test accuracy %.3f +- %.3f" % (rows[:, 1].mean(), rows[:, 1].std())
    )


if __name__ == "__main__":
    main()
