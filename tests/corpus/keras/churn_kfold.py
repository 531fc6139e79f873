import keras
import numpy as np
import pandas as pd
from keras import layers
from sklearn.metrics import balanced_accuracy_score, f1_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

keras.utils.set_random_seed(5)
FOLDS = 3
EPOCHS = 20


def load_customers(n=1600, seed=5):
    rng = np.random.default_rng(seed)
    df = pd.DataFrame({
        "tenure": rng.gamma(3.0, 10.0, n),
        "monthly_fee": rng.normal(45, 12, n),
        "calls": rng.poisson(1.8, n),
        "late_payments": rng.poisson(0.6, n),
        "data_gb": rng.lognormal(1.5, 0.7, n),
        "age": rng.integers(18, 80, n),
    })
    for j in range(8):
        df[f"usage_{j}"] = rng.normal(0, 1, n)
    score = (
        -0.045 * df.tenure + 0.02 * (df.monthly_fee - 45) + 0.5 * df.calls
        + 0.6 * df.late_payments + rng.normal(0, 0.4, n)
    )
    df["churn"] = (score > np.quantile(score, 0.92)).astype(int)
    return df


def oversample(df, seed=0):
    small = df[df.churn == 1]
    big = df[df.churn == 0]
    extra = small.sample(len(big), replace=True, random_state=seed)
    return pd.concat([big, extra]).sample(frac=1.0, random_state=seed)


def build(n_features):
    model = keras.Sequential([
        keras.Input((n_features,)),
        layers.Dense(128, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(1, activation="sigmoid"),
    ])
    model.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss="binary_crossentropy",
        metrics=["accuracy"],
    )
    return model


def run_fold(train, test, features):
    scaler = StandardScaler().fit(train[features])
    x_tr, x_te = scaler.transform(train[features]), scaler.transform(test[features])
    model = build(len(features))
    model.fit(x_tr, train.churn.to_numpy(), epochs=EPOCHS, batch_size=64, verbose=0)
    pred = (model.predict(x_te, verbose=0)[:, 0] > 0.5).astype(int)
    truth = test.churn.to_numpy()
    return balanced_accuracy_score(truth, pred), f1_score(truth, pred)


def main():
    everyone = load_customers()
    launch = everyone.sample(frac=0.25, random_state=1)
    df = everyone.drop(launch.index)
    features = [c for c in df.columns if c != "churn"]
    df = oversample(df)

    scores = []
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    for k, (a, b) in enumerate(folds.split(df, df.churn)):
        train, test = df.iloc[a], df.iloc[b]
        scores.append(run_fold(train, test, features))
        print(f"fold {k}: balanced accuracy {scores[-1][0]:.3f}  f1 {scores[-1][1]:.3f}")
    bal, f1 = np.mean(scores, axis=0)
    print(f"cross-validated balanced accuracy {bal:.3f}  f1 {f1:.3f}")
    bal, f1 = run_fold(df, launch, features)
    print(f"launch customers balanced accuracy {bal:.3f}  f1 {f1:.3f}")


if __name__ == "__main__":
    main()
