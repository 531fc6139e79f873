"""Claim counts per policy: Poisson regression network, cross-validated over policy years."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import pandas as pd
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(11)
N_FOLDS = 4
EPOCHS = 12
BATCH = 64


def load_policies(n=2400, seed=3):
    rng = np.random.default_rng(seed)
    regions = np.array(["north", "south", "east", "west", "coast", "island"])
    df = pd.DataFrame({
        "policy_year": np.repeat([2019, 2020, 2021, 2022], n // 4),
        "driver_age": rng.integers(18, 80, n),
        "car_power": rng.integers(40, 220, n),
        "km_per_year": rng.gamma(4.0, 3500.0, n),
        "region": rng.choice(regions, n, p=[0.24, 0.22, 0.2, 0.2, 0.1, 0.04]),
        "fuel": rng.choice(["petrol", "diesel", "electric"], n, p=[0.5, 0.3, 0.2]),
    })
    shut = (df.policy_year == 2019) & (df.region == "island")
    df.loc[shut, "region"] = "coast"
    eff = {"north": 0.0, "south": 0.3, "east": -0.3, "west": 0.1, "coast": 0.6, "island": -0.8}
    log_rate = (-0.6 + 0.9 * (df.driver_age < 27) + 0.006 * (df.car_power - 120)
                + 0.00004 * (df.km_per_year - 14000) + df.region.map(eff)
                - 0.4 * (df.fuel == "electric"))
    df["claims"] = rng.poisson(np.exp(log_rate))
    return df


NUMERIC = ["driver_age", "car_power", "km_per_year"]
CATEGORICAL = ["region", "fuel"]
REGIONS = ["coast", "east", "island", "north", "south", "west"]


def encode(part, mean, std):
    num = (part[NUMERIC] - mean) / std
    cat = pd.get_dummies(part[CATEGORICAL], dtype="float32")
    x = pd.concat([num, cat], axis=1).to_numpy("float32")
    return x, part["claims"].to_numpy("float32")[:, None]


def make_net(n_features):
    return keras.Sequential([
        keras.Input((n_features,)),
        layers.Dense(32, activation="relu"),
        layers.Dense(16, activation="relu"),
        layers.Dense(1),
    ])


def poisson_nll(y, log_rate):
    return tf.reduce_mean(tf.exp(log_rate) - y * log_rate)


def fit_fold(x, y):
    net = make_net(x.shape[1])
    opt = keras.optimizers.Adam(3e-3)
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x), seed=1).batch(BATCH)

    @tf.function
    def step(xb, yb):
        with tf.GradientTape() as tape:
            loss = poisson_nll(yb, net(xb, training=True))
        grads = tape.gradient(loss, net.trainable_variables)
        opt.apply_gradients(zip(grads, net.trainable_variables))
        return loss

    for _ in range(EPOCHS):
        losses = [float(step(xb, yb)) for xb, yb in ds]
    return net, np.mean(losses)


def main():
    df = load_policies()
    scores, bases = [], []
    for fold, year in enumerate(sorted(df.policy_year.unique(), reverse=True)[:N_FOLDS]):
        train, held = df[df.policy_year != year], df[df.policy_year == year]
        mean, std = train[NUMERIC].mean(), train[NUMERIC].std()
        x_tr, y_tr = encode(train, mean, std)
        x_te, y_te = encode(held, mean, std)
        net, last = fit_fold(x_tr, y_tr)
        nll = float(poisson_nll(y_te, net(x_te, training=False)))
        base = float(poisson_nll(y_te, tf.math.log(tf.fill(y_te.shape, y_tr.mean()))))
        print(f"fold {fold} held-out {year}: train nll {last:.4f}  test nll {nll:.4f}  constant-rate nll {base:.4f}")
        scores.append(nll)
        bases.append(base)
    print(f"mean test nll {np.mean(scores):.4f}  (constant rate {np.mean(bases):.4f})")


if __name__ == "__main__":
    main()
