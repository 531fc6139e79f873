import argparse

import numpy as np
import keras
from keras import layers


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--rows", type=int, default=12000)
    p.add_argument("--rate", type=float, default=0.02)
    p.add_argument("--epochs", type=int, default=12)
    p.add_argument("--seed", type=int, default=17)
    return p.parse_args()


def sensors(rows, rate, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 12)).astype("float32")
    risk = 1.8 * x[:, 0] + 1.4 * np.maximum(x[:, 1], 0) ** 2 - 1.2 * x[:, 2] + 0.5 * rng.normal(size=rows)
    y = (risk > np.quantile(risk, 1 - rate)).astype("float32")
    return x, y


def average_precision(y, s):
    order = np.argsort(-s)
    hits = np.cumsum(y[order])
    prec = hits / (np.arange(len(y)) + 1)
    return float((prec * y[order]).sum() / y.sum())


def main():
    a = parse()
    keras.utils.set_random_seed(a.seed)
    x, y = sensors(a.rows, a.rate, a.seed)
    n = int(a.rows * 0.75)
    x_tr, y_tr, x_te, y_te = x[:n], y[:n], x[n:], y[n:]
    pos = y_tr.mean()
    prior = np.log(pos / (1 - pos))
    weights = {0: 1.0, 1: float(np.sqrt((1 - pos) / pos))}
    print(f"positives {pos:.3%}, weights {weights}, output bias {prior:.2f}")

    model = keras.Sequential([
        keras.Input((x.shape[1],)),
        layers.Dense(32, activation="gelu"),
        layers.Dense(16, activation="gelu"),
        layers.Dense(1, activation="sigmoid", bias_initializer=keras.initializers.Constant(prior)),
    ])
    model.compile(
        optimizer=keras.optimizers.AdamW(2e-3, weight_decay=1e-3),
        loss="binary_crossentropy",
        metrics=[keras.metrics.AUC(curve="PR", name="pr_auc")],
    )
    model.fit(x_tr, y_tr, batch_size=512, epochs=a.epochs, class_weight=weights,
              validation_data=(x_te, y_te), verbose=2)
    s = model.predict(x_te, verbose=0)[:, 0]
    print(f"average precision {average_precision(y_te, s):.3f} (chance {y_te.mean():.3f})")
    top = np.argsort(-s)[: int(y_te.sum())]
    print(f"precision among the {len(top)} riskiest: {y_te[top].mean():.3f}")


if __name__ == "__main__":
    main()
