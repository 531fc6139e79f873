"""Who cancels a hotel booking? Small Keras MLP on tabular data."""
import json
import pathlib

import keras
import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

OUT = pathlib.Path("out")
OUT.mkdir(exist_ok=True)

CONFIG = dict(hidden=(64, 32), lr=1e-3, batch=128, epochs=40, patience=8, seed=17)


def bookings(n, seed):
    g = np.random.default_rng(seed)
    lead = g.gamma(2.0, 35.0, n)                      # days between booking and arrival
    nights = 1 + g.poisson(2.2, n)
    adults = g.choice([1, 2, 3], n, p=[0.25, 0.6, 0.15])
    rate = g.normal(95, 25, n) + 12 * adults
    deposit = g.random(n) < 0.3
    channel = g.integers(0, 4, n)                     # web, agency, phone, corporate
    earlier = g.poisson(0.6, n)
    month = g.integers(0, 12, n)
    season = np.sin(2 * np.pi * (month - 3) / 12)
    logit = (-4.3 + 1.6 * np.tanh((lead - 70) / 40) * (1 - 0.9 * deposit)
             + 1.4 * (channel == 1) * season + 0.9 * (earlier > 1)
             + 1.2 * np.abs((rate - 115) / 25) * (channel == 0)
             - 0.8 * (channel == 3) + 0.25 * (nights > 5))
    y = (g.random(n) < 1 / (1 + np.exp(-1.6 * (logit + 1.5)))).astype("float32")
    x = np.column_stack([lead, nights, adults, rate, deposit, earlier,
                         np.eye(4)[channel], season, np.cos(2 * np.pi * (month - 3) / 12)])
    return x.astype("float32"), y


def build(n_features, cfg):
    model = keras.Sequential([keras.Input((n_features,))])
    for width in cfg["hidden"]:
        model.add(keras.layers.Dense(width, activation="gelu"))
        model.add(keras.layers.Dropout(0.1))
    model.add(keras.layers.Dense(1, activation="sigmoid"))
    model.compile(
        optimizer=keras.optimizers.AdamW(cfg["lr"], weight_decay=1e-4),
        loss="binary_crossentropy",
        metrics=[keras.metrics.AUC(curve="PR", name="pr_auc")],
    )
    return model


def main(cfg):
    keras.utils.set_random_seed(cfg["seed"])
    x, y = bookings(9000, cfg["seed"])
    x_fit, x_test, y_fit, y_test = train_test_split(x, y, test_size=0.3, random_state=0, stratify=y)
    x_fit, x_val, y_fit, y_val = train_test_split(x_fit, y_fit, test_size=0.25, random_state=0,
                                                  stratify=y_fit)
    scaler = StandardScaler().fit(x_fit)
    x_fit, x_val, x_test = map(scaler.transform, (x_fit, x_val, x_test))
    print(f"cancelled: {y_fit.mean():.3f} of {len(y_fit)} bookings")

    model = build(x_fit.shape[1], cfg)
    callbacks = [
        keras.callbacks.EarlyStopping(
            monitor="val_pr_auc",
            mode="max",
            patience=cfg["patience"],
            restore_best_weights=True,
            verbose=1,
        ),
        keras.callbacks.CSVLogger(str(OUT / "bookings.csv")),
    ]
    history = model.fit(x_fit, y_fit, validation_data=(x_val, y_val), batch_size=cfg["batch"],
                        epochs=cfg["epochs"], verbose=0, callbacks=callbacks)
    for e, (a, b) in enumerate(zip(history.history["loss"], history.history["val_pr_auc"]), 1):
        if e % 4 == 1:
            print(f"epoch {e:3d}  loss {a:.4f}  val PR-AUC {b:.4f}")

    p = model.predict(x_test, batch_size=1024, verbose=0)[:, 0]
    report = {
        "pr_auc": float(average_precision_score(y_test, p)),
        "roc_auc": float(roc_auc_score(y_test, p)),
        "base_rate": float(y_test.mean()),
        "epochs_run": len(history.history["loss"]),
    }
    (OUT / "bookings.json").write_text(json.dumps(report, indent=1))
    print("test:", {k: round(v, 4) for k, v in report.items()})


if __name__ == "__main__":
    main(CONFIG)
