"""Classify pump faults from short vibration windows."""
import argparse

import numpy as np
import keras
from keras import layers
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--windows", type=int, default=2000)
    p.add_argument("--length", type=int, default=64)
    p.add_argument("--units", type=int, default=24)
    p.add_argument("--epochs", type=int, default=12)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--seed", type=int, default=3)
    return p.parse_args()


FAULTS = ["normal", "imbalance", "looseness", "inner_race", "outer_race", "cavitation"]


def simulate(n, length, rng):
    t = np.arange(length)
    signals = []
    labels = rng.integers(0, len(FAULTS), n)
    for k in labels:
        freq = rng.uniform(0.05, 0.08)
        phase = rng.uniform(0, 6.28)
        x = 0.6 * np.sin(2 * np.pi * freq * t + phase) + rng.normal(0, 0.3, length)
        if k == 1:
            x += 1.0 * np.sin(2 * np.pi * freq * t + phase)
        elif k == 2:
            x += 0.7 * np.sin(4 * np.pi * freq * t + rng.uniform(0, 6.28))
        elif k in (3, 4):
            period = 9 if k == 3 else 17
            x[rng.integers(0, period)::period] += 1.6
        elif k == 5:
            x += rng.normal(0, 0.5, length)
        signals.append(x)
    x = np.array(signals, dtype="float32")[..., None]
    return (x - x.mean()) / x.std(), labels


def build(args):
    inp = keras.Input((args.length, 1))
    h = layers.Conv1D(16, 7, padding="same", activation="relu")(inp)
    h = layers.MaxPooling1D(2)(h)
    h = layers.GRU(args.units, return_sequences=True)(h)
    h = layers.GlobalMaxPooling1D()(h)
    h = layers.Dense(16, activation="relu")(h)
    h = layers.Dropout(0.1)(h)
    out = layers.Dense(len(FAULTS))(h)
    model = keras.Model(inp, out)
    model.compile(
        optimizer=keras.optimizers.Adam(args.lr),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return model


def main():
    args = parse_args()
    keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    x, y = simulate(args.windows, args.length, rng)
    x_tr, x_te, y_tr, y_te = train_test_split(
        x, y, test_size=0.25, random_state=args.seed, stratify=y
    )
    model = build(args)
    model.fit(
        x_tr, y_tr,
        validation_split=0.15,
        epochs=args.epochs,
        batch_size=args.batch_size,
        verbose=2,
    )
    loss, acc = model.evaluate(x_te, y_te, verbose=0)
    pred = model.predict(x_te, verbose=0).argmax(axis=1)
    for k, name in enumerate(FAULTS):
        print(f"{name:12s} true {np.mean(y_te == k):.3f} predicted {np.mean(pred == k):.3f}")
    print(f"test loss {loss:.4f}  accuracy {acc:.4f}  macro f1 {f1_score(y_te, pred, average='macro'):.4f}")


if __name__ == "__main__":
    main()
