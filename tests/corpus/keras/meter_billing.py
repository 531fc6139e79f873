"""Next month's gas use per household. `last_month` explains most of it and is known on the
day the forecast is made (the meter has been read); the label is the month after."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import pandas as pd

keras.utils.set_random_seed(12)
rng = np.random.default_rng(12)


def households(n=220, months=30):
    kind = rng.choice(["flat", "terrace", "villa"], n, p=[0.5, 0.35, 0.15])
    size = np.select([kind == "flat", kind == "terrace"], [0.6, 1.0], 1.9) * rng.lognormal(0, 0.25, n)
    fuel = rng.choice(["boiler", "hybrid"], n, p=[0.8, 0.2])
    rows, drift = [], np.zeros(n)
    for m in range(months):
        drift = 0.9 * drift + rng.normal(0, 0.06, n)
        cold = 1 + 0.85 * np.cos(2 * np.pi * (m % 12) / 12) + rng.normal(0, 0.05)
        use = 90 * size * np.exp(drift) * (0.25 + np.where(fuel == "hybrid", 0.55, 1.0) * cold)
        rows.append(pd.DataFrame({"house": np.arange(n), "month": m, "kind": kind, "fuel": fuel,
                                  "use": use * rng.normal(1, 0.05, n)}))
    return pd.concat(rows, ignore_index=True)


df = households().sort_values(["house", "month"])
df["last_month"] = df.groupby("house")["use"].shift(1)
df["year_ago"] = df.groupby("house")["use"].shift(12)
df["year_ago_prev"] = df.groupby("house")["use"].shift(13)
df["pilot"] = ((df.month < 20) & (df.house % 7 == 0)).astype(int)      # the pilot ended in month 20
df["callback"] = np.where(df.month < 22, rng.integers(0, 3, len(df)), np.nan)  # no longer recorded
df = df.dropna(subset=["year_ago_prev"])
df["sin"], df["cos"] = np.sin(2 * np.pi * df.month / 12), np.cos(2 * np.pi * df.month / 12)
df = pd.get_dummies(df, columns=["kind", "fuel"], dtype=float)

train, test = df[df.month < 25], df[df.month >= 25]
train, valid = train[train.house % 6 != 1], train[train.house % 6 == 1]
print("corr(last_month, use) = %.2f" % train.last_month.corr(train.use))
print("constant or empty in the test months:", [c for c in test if test[c].nunique() <= 1])

logs = ["last_month", "year_ago", "year_ago_prev"]
rest = ["pilot", "callback", "sin", "cos"] + [c for c in df if c.startswith(("kind_", "fuel_"))]


def features(part):
    x = pd.concat([np.log(part[logs]), part[rest]], axis=1)
    return x.fillna(fill)


fill = pd.concat([np.log(train[logs]), train[rest]], axis=1).median()
mu, sd = features(train).mean(), features(train).std()
X = {k: ((features(p) - mu) / sd).to_numpy("float32") for k, p in (("train", train), ("valid", valid), ("test", test))}
# target: log ratio to the last reading
Y = {k: np.log(p.use / p.last_month).to_numpy("float32") for k, p in (("train", train), ("valid", valid))}

model = keras.Sequential([
    keras.Input((X["train"].shape[1],)),
    keras.layers.Dense(48, activation="gelu"),
    keras.layers.Dense(24, activation="gelu"),
    keras.layers.Dense(1),
])
model.compile(keras.optimizers.Adam(5e-3), loss="mae")
stop = keras.callbacks.EarlyStopping("val_loss", patience=5, restore_best_weights=True)
h = model.fit(X["train"], Y["train"], validation_data=(X["valid"], Y["valid"]), epochs=60,
              batch_size=128, callbacks=[stop], verbose=0)
print(f"stopped after {len(h.history['loss'])} epochs, best val {min(h.history['val_loss']):.4f}")

out = test[["house", "month", "use", "last_month", "year_ago"]].copy()
out["kind"] = test.filter(like="kind_").idxmax(axis=1).str.removeprefix("kind_")
out["net"] = test.last_month * np.exp(model.predict(X["test"], verbose=0)[:, 0])
for name in ("net", "last_month", "year_ago"):
    e = out[name] - out.use
    print(f"{name:11s} MAE {e.abs().mean():7.2f}  R2 {1 - (e ** 2).sum() / ((out.use - out.use.mean()) ** 2).sum():.3f}"
          f"  skill {1 - e.abs().sum() / (out.last_month - out.use).abs().sum():+.3f}")
err = out.assign(net=(out.net - out.use).abs(), naive=(out.year_ago - out.use).abs())
print(err.groupby("kind")[["net", "naive"]].mean().round(2))
