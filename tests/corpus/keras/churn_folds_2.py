import keras
import numpy as np
from keras import layers
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler


def customers(seed):
    X, y = make_classification(
        n_samples=1400, n_features=20, n_informative=6, n_redundant=2, n_clusters_per_class=2,
        weights=[0.9], class_sep=1.5, flip_y=0.02, random_state=seed,
    )
    return X.astype("float32"), y


def balance(X, y, seed):
    rng = np.random.default_rng(seed)
    minority = np.flatnonzero(y == 1)
    missing = np.sum(y == 0) - len(minority)
    extra = rng.choice(minority, size=missing, replace=True)
    index = rng.permutation(np.concatenate([np.arange(len(y)), extra]))
    return X[index], y[index]


def make_net(n_features):
    net = keras.Sequential([
        keras.Input((n_features,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(1, activation="sigmoid"),
    ])
    net.compile(optimizer=keras.optimizers.Adam(3e-3), loss="binary_crossentropy")
    return net


class FoldRunner:
    def __init__(self, n_folds=3, epochs=15, seed=2):
        self.n_folds = n_folds
        self.epochs = epochs
        self.seed = seed
        self.rows = []

    def run(self, X, y):
        X, y = balance(X, y, self.seed)
        folds = StratifiedKFold(self.n_folds, shuffle=True, random_state=self.seed)
        for k, (fit_idx, val_idx) in enumerate(folds.split(X, y)):
            X_fit, y_fit = X[fit_idx], y[fit_idx]
            scaler = StandardScaler().fit(X_fit)
            net = make_net(X.shape[1])
            net.fit(scaler.transform(X_fit), y_fit, epochs=self.epochs, batch_size=64, verbose=0)
            p = net.predict(scaler.transform(X[val_idx]), verbose=0).ravel()
            row = {
                "balanced_accuracy": balanced_accuracy_score(y[val_idx], p > 0.5),
                "churn_recall": float(np.mean(p[y[val_idx] == 1] > 0.5)),
            }
            self.rows.append(row)
            print(f"fold {k}", {name: round(v, 4) for name, v in row.items()})
        return {name: np.mean([r[name] for r in self.rows]) for name in self.rows[0]}


def main():
    keras.utils.set_random_seed(2)
    X, y = customers(seed=31)
    print(f"{len(y)} customers, {y.mean():.3f} of them churned")
    summary = FoldRunner().run(X, y)
    for name, value in summary.items():
        print(f"cross-validated {name} {value:.4f}")
    print("constant guess balanced_accuracy 0.5000")


if __name__ == "__main__":
    main()
