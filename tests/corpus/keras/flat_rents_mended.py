import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import argparse
import numpy as np
import keras
from keras import layers
from sklearn.metrics import mean_absolute_error, r2_score

DISTRICTS = ["north", "harbour", "old town", "west", "airport", "university"]
PREMIUM = np.array([0.0, 2.5, 6.0, -1.0, -4.0, 3.0])


def make_listings(n, rng):
    area = rng.uniform(22, 160, n)
    rooms = np.clip(np.round(area / 28 + rng.normal(0, 0.6, n)), 1, 6)
    floor = rng.integers(0, 9, n)
    lift = rng.random(n) < 0.2 + 0.07 * floor
    year = rng.integers(1900, 2023, n)
    energy = 250 - 1.3 * (year - 1900) + rng.normal(0, 18, n)
    station_m = rng.gamma(2.0, 900.0, n) * 10
    rating = rng.uniform(1, 5, n)
    district = rng.integers(0, len(DISTRICTS), n)
    euro_m2 = (12 + PREMIUM[district] + 2.2 * (rating - 3) + 0.25 * floor * np.where(lift, 1, -1)
               - 0.012 * (energy - 150) - 1.2 * np.log1p(station_m / 3000))
    rent = euro_m2 * area / 100 + rng.normal(0, 0.5, n)
    numeric = np.stack([area, rooms, floor, lift, energy, station_m, rating], 1)
    return numeric.astype("float32"), np.array(DISTRICTS)[district], rent.astype("float32")


def build_model(numeric_sample, lr):
    scale = layers.Normalization(axis=-1)
    scale.adapt(numeric_sample)

    num_in = keras.Input((numeric_sample.shape[1],), name="numeric")
    cat_in = keras.Input((1,), dtype="int32", name="district")
    h = scale(num_in)
    e = layers.Flatten()(layers.Embedding(len(DISTRICTS), 4)(cat_in))
    z = layers.Concatenate()([h, e])
    z = layers.Dense(64, activation="relu")(z)
    z = layers.Dense(32, activation="relu")(z)
    rent = layers.Dense(1, name="rent")(z)
    model = keras.Model({"numeric": num_in, "district": cat_in}, rent)
    model.compile(optimizer=keras.optimizers.Adam(lr), loss="mse", metrics=["mae"])
    return model


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rows", type=int, default=5000)
    ap.add_argument("--epochs", type=int, default=25)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--seed", type=int, default=11)
    args = ap.parse_args()

    keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    numeric, district, rent = make_listings(args.rows, rng)
    code = {d: i for i, d in enumerate(DISTRICTS)}
    district = np.array([[code[d]] for d in district], dtype="int32")

    cut = int(0.8 * args.rows)
    train = {"numeric": numeric[:cut], "district": district[:cut]}
    test = {"numeric": numeric[cut:], "district": district[cut:]}

    model = build_model(train["numeric"], args.lr)
    stop = keras.callbacks.EarlyStopping("val_loss", patience=6, restore_best_weights=True)
    model.fit(train, rent[:cut], validation_split=0.1, epochs=args.epochs, batch_size=64,
              callbacks=[stop], verbose=2)

    pred = model.predict(test, verbose=0)[:, 0]
    truth = rent[cut:]
    base = np.full_like(truth, rent[:cut].mean())
    print(f"MAE mean-predictor {100 * mean_absolute_error(truth, base):.1f} euro")
    print(f"MAE test           {100 * mean_absolute_error(truth, pred):.1f} euro")
    print(f"R2 test            {r2_score(truth, pred):.3f}")


if __name__ == "__main__":
    main()
