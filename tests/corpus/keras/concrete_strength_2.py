"""Predict compressive strength from a mix design (small MLP)."""
import argparse
import json
import pathlib
import numpy as np
import keras
from keras import layers
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


def parse():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=20)
    ap.add_argument("--batch-size", type=int, default=32)
    ap.add_argument("--lr", type=float, default=0.05)
    ap.add_argument("--weight-decay", type=float, default=1.0)
    ap.add_argument("--hidden", type=int, nargs="+", default=[48, 24])
    ap.add_argument("--seed", type=int, default=17)
    return ap.parse_args()


def mixes(n, rng):
    cement = rng.uniform(120, 520, n)
    slag = rng.uniform(0, 250, n)
    ash = rng.uniform(0, 180, n)
    water = rng.uniform(130, 230, n)
    plasticiser = rng.uniform(0, 25, n)
    coarse = rng.uniform(800, 1100, n)
    fine = rng.uniform(600, 950, n)
    age = rng.choice([3, 7, 14, 28, 56, 90, 180], n)
    binder = cement + 0.7 * slag + 0.4 * ash
    ratio = water / binder
    strength = (62 * np.exp(-1.1 * ratio) * (0.35 + 0.28 * np.log1p(age) / np.log(29))
                + 0.35 * plasticiser + 0.01 * (fine - 775)
                + rng.normal(0, 1.8, n))
    feats = np.stack([cement, slag, ash, water, plasticiser, coarse, fine, age], 1)
    return feats.astype("float32"), strength.astype("float32")


def build(hidden, n_in):
    model = keras.Sequential([keras.Input((n_in,))])
    for h in hidden:
        model.add(layers.Dense(h, activation="relu", kernel_initializer="he_normal"))
    model.add(layers.Dense(1))
    return model


def main():
    args = parse()
    keras.utils.set_random_seed(args.seed)
    x, y = mixes(3000, np.random.default_rng(args.seed))
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.25, random_state=args.seed)

    xs, ys = StandardScaler().fit(x_tr), StandardScaler().fit(y_tr[:, None])
    x_tr, x_te = xs.transform(x_tr), xs.transform(x_te)
    t_tr = ys.transform(y_tr[:, None])

    model = build(args.hidden, x_tr.shape[1])
    optimizer = keras.optimizers.SGD(
        args.lr, weight_decay=args.weight_decay)
    model.compile(optimizer=optimizer, loss="mse")
    hist = model.fit(x_tr, t_tr, epochs=args.epochs, batch_size=args.batch_size,
                     validation_split=0.1, verbose=0)
    for e in range(0, args.epochs, 5):
        print(f"epoch {e + 1:3d} mse {hist.history['loss'][e]:.4f} "
              f"val {hist.history['val_loss'][e]:.4f}")

    pred = ys.inverse_transform(model.predict(x_te, verbose=0)).ravel()
    result = {
        "rmse_mpa": float(np.sqrt(np.mean((pred - y_te) ** 2))),
        "rmse_mean_predictor": float(np.sqrt(np.mean((y_tr.mean() - y_te) ** 2))),
        "r2": float(r2_score(y_te, pred)),
    }
    out = pathlib.Path("out")
    out.mkdir(exist_ok=True)
    (out / "concrete_strength.json").write_text(json.dumps({**vars(args), **result}))
    print("test:", {k: round(v, 3) for k, v in result.items()})


if __name__ == "__main__":
    main()
