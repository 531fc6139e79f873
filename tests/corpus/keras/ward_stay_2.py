"""Length of stay (days) at admission, for bed planning."""
import numpy as np
import pandas as pd
import keras
from keras import layers
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.model_selection import train_test_split
from sklearn.metrics import mean_absolute_error

SEED = 77
keras.utils.set_random_seed(SEED)


def admissions(n, rng, discharged=True):
    age = rng.normal(62, 16, n).clip(18, 98)
    acuity = rng.integers(1, 6, n)
    comorb = rng.poisson(1.6, n)
    crp = rng.gamma(2, 30, n)
    spo2 = rng.normal(94, 3, n).clip(75, 100)
    unit = rng.choice(["cardio", "ortho", "pulmo", "general"], n)
    emergency = rng.random(n) < 0.55
    effect = pd.Series(unit).map({"cardio": 0.15, "ortho": 0.35, "pulmo": 0.25, "general": 0.0}).values
    mu = (0.2 + 0.012 * (age - 50) + 0.22 * acuity + 0.12 * comorb + 0.004 * crp
          - 0.05 * (spo2 - 94) + effect + 0.3 * emergency * (age > 70))
    los = np.exp(mu * 0.75 + rng.normal(0, 0.22, n)).clip(0.5, 60)
    frame = pd.DataFrame({
        "age": age, "acuity": acuity, "comorbidities": comorb, "crp": crp, "spo2": spo2,
        "unit": unit, "emergency": emergency.astype(int),
        "meals_billed": np.round(los * 3 * rng.normal(1, 0.02, n)),
        "los_days": los,
    })
    if not discharged:
        frame["meals_billed"] = 0.0
    return frame


NUMERIC = ["age", "acuity", "comorbidities", "crp", "spo2", "emergency", "meals_billed"]
CATEGORICAL = ["unit"]


def features():
    return make_column_transformer(
        (StandardScaler(), NUMERIC),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), CATEGORICAL),
    )


def network(n_in):
    model = keras.Sequential([
        keras.Input((n_in,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(32, activation="relu"),
        layers.Dense(1),
    ])
    model.compile(optimizer=keras.optimizers.AdamW(2e-3, weight_decay=1e-4), loss=keras.losses.Huber(), metrics=["mae"])
    return model


def main():
    rng = np.random.default_rng(SEED)
    archive = admissions(5000, rng)
    train, valid = train_test_split(archive, test_size=0.2, random_state=SEED)

    ct = features().fit(train)
    x_tr, x_va = ct.transform(train).astype("float32"), ct.transform(valid).astype("float32")
    t_tr, t_va = np.log(train.los_days.values), np.log(valid.los_days.values)

    model = network(x_tr.shape[1])
    hist = model.fit(x_tr, t_tr, validation_data=(x_va, t_va), epochs=20, batch_size=64, verbose=0,
                     callbacks=[keras.callbacks.EarlyStopping(patience=5, restore_best_weights=True)])
    for e, (a, b) in enumerate(zip(hist.history["mae"], hist.history["val_mae"])):
        if e % 4 == 0:
            print(f"epoch {e:2d} log-mae {a:.3f} val {b:.3f}")

    def days(frame):
        return np.exp(model.predict(ct.transform(frame).astype("float32"), verbose=0)[:, 0])

    median = np.full(len(valid), train.los_days.median())
    print(f"archive validation MAE: {mean_absolute_error(valid.los_days, days(valid)):.2f} days "
          f"(median guess {mean_absolute_error(valid.los_days, median):.2f})")

    live = admissions(800, rng, discharged=False)
    print(f"live admissions MAE   : {mean_absolute_error(live.los_days, days(live)):.2f} days "
          f"(median guess {mean_absolute_error(live.los_days, np.full(800, train.los_days.median())):.2f})")


if __name__ == "__main__":
    main()
