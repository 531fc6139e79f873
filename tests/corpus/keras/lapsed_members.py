import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import argparse
import numpy as np
import pandas as pd
import keras
from keras import layers


def club_table(n, seed):
    rng = np.random.default_rng(seed)
    df = pd.DataFrame({
        "visits_month": rng.poisson(6, n),
        "months_member": rng.integers(1, 72, n),
        "fee": rng.choice([25, 35, 55, 80], n),
        "classes": rng.poisson(2, n),
        "complaints": rng.poisson(0.4, n),
        "plan": rng.choice(["day", "full", "family"], n),
    })
    z = (2.2 - 0.55 * df.visits_month - 0.02 * df.months_member + 0.03 * df.fee
         - 0.4 * df.classes + 1.6 * df.complaints + df["plan"].map({"day": 0.8, "full": 0.0, "family": -0.8}))
    df["lapsed"] = (rng.uniform(size=n) < 1 / (1 + np.exp(-1.5 * z))).astype("float32")
    return df


def features(df, stats=None):
    x = pd.get_dummies(df.drop(columns="lapsed"), columns=["plan"]).astype("float32")
    if stats is None:
        stats = (x.mean(), x.std())
    return ((x - stats[0]) / stats[1]).to_numpy("float32"), stats


class Report(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        shown = {k: round(float(v), 3) for k, v in logs.items() if k.startswith("val")}
        print(f"[{epoch + 1:02d}] {shown}")


def build(width, dims):
    inputs = keras.Input((dims,))
    x = layers.Dense(width, activation="relu")(inputs)
    x = layers.Dropout(0.1)(x)
    x = layers.Dense(width // 2, activation="relu")(x)
    model = keras.Model(inputs, layers.Dense(1)(x))
    model.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss=keras.losses.BinaryCrossentropy(from_logits=True),
        metrics=[keras.metrics.BinaryAccuracy(threshold=0.0, name="acc"),
                 keras.metrics.AUC(name="auc")],
    )
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--width", type=int, default=32)
    args = parser.parse_args()
    keras.utils.set_random_seed(8)

    df = club_table(4000, seed=8)
    train, val = df.iloc[:3200], df.iloc[3200:]
    x_train, stats = features(train)
    x_val, _ = features(val, stats)
    y_train, y_val = train["lapsed"].to_numpy(), val["lapsed"].to_numpy()
    print("share lapsed:", y_train.mean().round(3))

    model = build(args.width, x_train.shape[1])
    model.fit(x_train, y_train, validation_data=(x_val, y_val), batch_size=64, epochs=args.epochs, verbose=0,
              callbacks=[Report(), keras.callbacks.EarlyStopping("val_auc", mode="max", patience=6,
                                                                 restore_best_weights=True)])
    print("final:", {k: round(v, 3) for k, v in model.evaluate(x_val, y_val, verbose=0, return_dict=True).items()})


if __name__ == "__main__":
    main()
