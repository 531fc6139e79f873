import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
from keras import layers


def make_listings(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 14)).astype("float32")
    rent = 1150 + 310 * x[:, 0] + 190 * x[:, 1] * x[:, 2] + 120 * np.abs(x[:, 3])
    rent = (rent + rng.normal(scale=60, size=n)).astype("float32")
    a = x[:, 6] + 0.7 * x[:, 7] * x[:, 8]
    b = x[:, 9] - 0.7 * np.abs(x[:, 10]) + 0.5
    kind = np.where(a > 0, np.where(b > 0, 0, 1), np.where(b > 0, 2, 3)).astype("int64")
    return x, rent, kind


def build(width, rent_mean, rent_std):
    inputs = keras.Input((14,), name="features")
    h = layers.Dense(64, activation="relu")(inputs)
    h = layers.Dense(64, activation="relu")(h)
    h = layers.Dense(width, activation="relu", name="shared")(h)
    rent = layers.Dense(1)(h)
    rent = layers.Rescaling(scale=rent_std, offset=rent_mean, name="rent")(rent)
    kind = layers.Dense(4, activation="softmax", name="kind")(h)
    return keras.Model(inputs, {"rent": rent, "kind": kind})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--width", type=int, default=10)
    parser.add_argument("--lr", type=float, default=2e-3)
    args = parser.parse_args()

    keras.utils.set_random_seed(11)
    x, rent, kind = make_listings(6000, 1)
    x_test, rent_test, kind_test = make_listings(1500, 2)
    rent_mean, rent_std = float(rent.mean()), float(rent.std())

    model = build(args.width, rent_mean, rent_std)
    model.compile(
        optimizer=keras.optimizers.Adam(args.lr),
        loss={"rent": "mse", "kind": "sparse_categorical_crossentropy"},
        metrics={"rent": ["mae"], "kind": ["accuracy"]},
    )
    history = model.fit(
        x,
        {"rent": rent[:, None], "kind": kind},
        validation_split=0.1,
        epochs=args.epochs,
        batch_size=args.batch_size,
        verbose=2,
    )
    print("last training loss:", round(history.history["loss"][-1], 3))

    out = model.predict(x_test, verbose=0)
    mae = np.abs(out["rent"][:, 0] - rent_test).mean()
    acc = (out["kind"].argmax(1) == kind_test).mean()
    print(f"rent MAE {mae:.1f} (mean predictor {np.abs(rent_test - rent_mean).mean():.1f})")
    print(f"kind accuracy {acc:.3f} (majority {np.bincount(kind_test).max() / len(kind_test):.3f})")


if __name__ == "__main__":
    main()
