"""
Predict tomato yield (kg per greenhouse bay) from climate logs and management data.
"""
import argparse
import numpy as np
import keras
from keras import layers
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.metrics import mean_absolute_error, r2_score


def simulate_bays(n, seed):
    r = np.random.default_rng(seed)
    temp = r.normal(22, 3, n)
    humidity = r.uniform(50, 95, n)
    co2 = r.uniform(380, 1100, n)
    par = r.gamma(6, 3.5, n)
    density = r.uniform(1.8, 3.6, n)
    ec = r.normal(2.8, 0.5, n)
    variety = r.integers(0, 4, n)
    base = np.array([310.0, 355.0, 290.0, 400.0])[variety]
    light = 1 - np.exp(-par / 18)
    heat = np.exp(-((temp - 22.5) / 5) ** 2)
    gas = 0.7 + 0.5 * (co2 - 380) / (co2 + 300)
    crowd = density * np.exp(-density / 3)
    mildew = 1 - 0.35 / (1 + np.exp(-(humidity - 85) / 2.5))
    salt = 1 - 0.06 * (ec - 2.6) ** 2
    y = base * light * heat * gas * crowd * mildew * salt * r.normal(1, 0.04, n)
    num = np.stack([temp, humidity, co2, par, density, ec], 1)
    return num.astype("float32"), variety.astype("int32"), y.astype("float32")


def build(width, dropout):
    num_in = keras.Input((6,), name="climate")
    var_in = keras.Input((), dtype="int32", name="variety")
    v = layers.Embedding(4, 3)(var_in)
    h = layers.Concatenate()([num_in, v])
    for _ in range(2):
        h = layers.Dense(width, activation="gelu")(h)
        h = layers.Dropout(dropout)(h)
    out = layers.Dense(1, name="yield")(h)
    return keras.Model([num_in, var_in], out)


def parse():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rows", type=int, default=4000)
    ap.add_argument("--epochs", type=int, default=30)
    ap.add_argument("--width", type=int, default=64)
    ap.add_argument("--dropout", type=float, default=0.02)
    ap.add_argument("--lr", type=float, default=3e-3)
    ap.add_argument("--seed", type=int, default=5)
    return ap.parse_args()


def main():
    args = parse()
    keras.utils.set_random_seed(args.seed)
    num, var, y = simulate_bays(args.rows, args.seed)
    idx_tr, idx_te = train_test_split(np.arange(len(y)), test_size=0.2, random_state=args.seed)
    idx_tr, idx_va = train_test_split(idx_tr, test_size=0.15, random_state=args.seed)

    x_scaler = StandardScaler().fit(num[idx_tr])
    y_scaler = StandardScaler().fit(y[idx_tr, None])
    xs = x_scaler.transform(num).astype("float32")
    ys = y_scaler.transform(y[:, None]).astype("float32")

    model = build(args.width, args.dropout)
    model.compile(optimizer=keras.optimizers.Adam(args.lr), loss="mse")
    plateau = keras.callbacks.ReduceLROnPlateau(patience=3, factor=0.5, verbose=0)
    hist = model.fit(
        [xs[idx_tr], var[idx_tr]], ys[idx_tr],
        validation_data=([xs[idx_va], var[idx_va]], ys[idx_va]),
        epochs=args.epochs, batch_size=64, callbacks=[plateau], verbose=0,
    )
    for e in range(4, args.epochs, 5):
        print(f"epoch {e + 1:3d}  loss {hist.history['loss'][e]:.4f}  val {hist.history['val_loss'][e]:.4f}")

    pred = model.predict([xs[idx_te], var[idx_te]], verbose=0)
    pred = y_scaler.inverse_transform(pred)
    pred = pred[:, 0]
    truth = y[idx_te]
    mae = mean_absolute_error(truth, pred)
    naive = mean_absolute_error(truth, np.full_like(truth, y[idx_tr].mean()))
    print(f"test MAE  {mae:8.2f} kg/bay")
    print(f"mean-only {naive:8.2f} kg/bay")
    print(f"test R2   {r2_score(truth, pred):8.3f}")


if __name__ == "__main__":
    main()
