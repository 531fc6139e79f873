"""Churn prediction, 5-fold cross-validation plus a locked-away holdout."""
import numpy as np
import keras
from keras import layers
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler

keras.utils.set_random_seed(13)


def load_customers():
    X, y = make_classification(
        n_samples=1200, n_features=24, n_informative=8, n_redundant=4,
        n_clusters_per_class=2, class_sep=0.8, flip_y=0.25, random_state=13,
    )
    return X.astype("float32"), y.astype("float32")


def build_net(n_features):
    net = keras.Sequential([
        keras.Input((n_features,)),
        layers.Dense(96, activation="relu"),
        layers.Dense(48, activation="relu"),
        layers.Dense(1, activation="sigmoid"),
    ])
    net.compile(optimizer=keras.optimizers.Adam(2e-3), loss="binary_crossentropy",
                metrics=["accuracy"])
    return net


def train_one(net, X, y, epochs):
    net.fit(X, y, epochs=epochs, batch_size=32, verbose=0)
    return net


def cross_validate(X, y, n_splits=5, epochs=15):
    scores = []
    net = build_net(X.shape[1])
    folds = StratifiedKFold(n_splits=n_splits, shuffle=True, random_state=13)
    for k, (tr, va) in enumerate(folds.split(X, y)):
        scaler = StandardScaler().fit(X[tr])
        train_one(net, scaler.transform(X[tr]), y[tr], epochs)
        loss, acc = net.evaluate(scaler.transform(X[va]), y[va], verbose=0)
        print(f"fold {k}: loss {loss:.4f} accuracy {acc:.4f}")
        scores.append(acc)
    return np.array(scores)


def final_model(X, y, X_hold, y_hold, epochs=15):
    scaler = StandardScaler().fit(X)
    net = train_one(build_net(X.shape[1]), scaler.transform(X), y, epochs)
    return net.evaluate(scaler.transform(X_hold), y_hold, verbose=0)[1]


def main():
    X, y = load_customers()
    X, X_hold, y, y_hold = train_test_split(X, y, test_size=0.3, random_state=13, stratify=y)
    scores = cross_validate(X, y)
    print(f"cross-validated accuracy {scores.mean():.4f} +- {scores.std():.4f}")
    print(f"holdout accuracy {final_model(X, y, X_hold, y_hold):.4f}")


if __name__ == "__main__":
    main()
