"""Flat listings: predict the asking price and whether the flat is let within a month."""
import argparse

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.metrics import r2_score, roc_auc_score

DISTRICTS = ["harbour", "old_town", "hillside", "station", "university"]
DISTRICT_EFFECT = dict(zip(DISTRICTS, [0.25, 0.40, 0.10, -0.20, 0.05]))
PLUS = ["balcony", "renovated", "parquet", "quiet", "bright", "terrace"]
MINUS = ["noisy", "basement", "unrenovated", "dark", "shared", "damp"]
FILLER = ["flat", "with", "kitchen", "near", "park", "two", "rooms", "and", "cellar", "for", "rent"]
MAX_WORDS = 60


def make_listings(n, rng):
    area = rng.gamma(6.0, 12.0, n) + 18.0
    floor = rng.integers(0, 9, n).astype("float32")
    year = rng.integers(1890, 2023, n).astype("float32")
    district = rng.choice(DISTRICTS, n)
    texts, mood = [], np.zeros(n)
    for i in range(n):
        good = rng.choice(PLUS, rng.integers(0, 4), replace=False)
        bad = rng.choice(MINUS, rng.integers(0, 4), replace=False)
        words = np.concatenate([good, bad, rng.choice(FILLER, rng.integers(4, 9))])
        rng.shuffle(words)
        texts.append(" ".join(words))
        mood[i] = len(good) - len(bad)
    effect = np.array([DISTRICT_EFFECT[d] for d in district])
    log_rent = 4.6 + 0.55 * np.log(area) + effect + 0.08 * mood + 0.0015 * (year - 1950)
    log_rent += rng.normal(0, 0.06, n)
    chance = 1 / (1 + np.exp(-(1.1 * mood + 4.0 * effect - 0.02 * (area - 90))))
    fast = (rng.random(n) < chance).astype("float32")
    features = {
        "numbers": np.stack([area, floor, year], axis=1).astype("float32"),
        "district": district.astype("str"),
        "text": np.array(texts),
    }
    targets = {"log_rent": log_rent.astype("float32")[:, None], "fast": fast[:, None]}
    return features, targets


def build(train_x, vocab_size, centre, spread, width):
    numbers = keras.Input((3,), name="numbers")
    district = keras.Input((1,), dtype="int32", name="district")
    words = keras.Input((vocab_size,), dtype="float32", name="text")

    scale = layers.Normalization()
    scale.adapt(train_x["numbers"])
    merged = layers.Concatenate()([
        scale(numbers),
        layers.Flatten()(layers.Embedding(len(DISTRICTS) + 1, 4)(district)),
        layers.Dense(16, activation="relu")(words),
    ])
    trunk = layers.Dense(width, activation="relu")(merged)
    trunk = layers.Dense(width, activation="relu")(trunk)
    rent = layers.Dense(1)(layers.Dense(16, activation="relu")(trunk))
    rent = layers.Rescaling(scale=spread, offset=centre, name="log_rent")(rent)
    fast = layers.Dense(1, name="fast")(layers.Dense(16, activation="relu")(trunk))
    return keras.Model([numbers, district, words], {"log_rent": rent, "fast": fast})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=6000)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=11)
    args = parser.parse_args()
    keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)

    parts = {name: make_listings(n, rng) for name, n in
             [("train", args.rows), ("val", args.rows // 6), ("test", args.rows // 6)]}
    train_x, train_y = parts["train"]
    lookup = layers.StringLookup(vocabulary=DISTRICTS)
    vectorize = layers.TextVectorization(output_mode="multi_hot", max_tokens=MAX_WORDS, pad_to_max_tokens=True)
    vectorize.adapt(train_x["text"])

    def encode(x, y):
        return {"numbers": x["numbers"],
                "district": lookup(x["district"])[:, None],
                "text": vectorize(x["text"])}, y

    def pipeline(name):
        ds = tf.data.Dataset.from_tensor_slices(parts[name])
        if name == "train":
            ds = ds.shuffle(args.rows, seed=args.seed)
        return ds.batch(args.batch).map(encode, num_parallel_calls=1).prefetch(2)

    centre, spread = float(train_y["log_rent"].mean()), float(train_y["log_rent"].std())
    model = build(train_x, MAX_WORDS, centre, spread, args.width)
    # the squared error of a log rent is a hundred times smaller than the cross-entropy
    model.compile(
        optimizer=keras.optimizers.Adam(args.lr),
        loss={"log_rent": "mse", "fast": keras.losses.BinaryCrossentropy(from_logits=True)},
        loss_weights={"log_rent": 10.0, "fast": 0.5},
        metrics={"log_rent": ["mae"], "fast": [keras.metrics.AUC(from_logits=True, name="auc")]},
    )
    model.fit(pipeline("train"), validation_data=pipeline("val"), epochs=args.epochs, verbose=2,
              callbacks=[keras.callbacks.EarlyStopping("val_loss", patience=3, restore_best_weights=True)])

    test_y = parts["test"][1]
    out = model.predict(pipeline("test"), verbose=0)
    print("log rent R2 %.3f" % r2_score(test_y["log_rent"][:, 0], out["log_rent"][:, 0]))
    print("let within a month, AUC %.3f" % roc_auc_score(test_y["fast"][:, 0], out["fast"][:, 0]))


if __name__ == "__main__":
    main()
