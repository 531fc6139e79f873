"""Hour-ahead-by-six electricity load forecasting with a dilated conv net (Keras)."""
import os
import numpy as np
import keras
from keras import layers

cfg = dict(
    history=48,
    horizon=6,
    epochs=12,
    batch_size=64,
    peak_lr=2e-3,
    seed=11,
    out_dir="out",
)


def simulate_load(hours, rng):
    t = np.arange(hours)
    day = np.sin(2 * np.pi * (t % 24) / 24 - 1.2) + 0.5 * np.sin(4 * np.pi * (t % 24) / 24 + 0.4)
    week = np.where((t // 24) % 7 >= 5, -0.8, 0.2)
    season = 0.7 * np.cos(2 * np.pi * t / (24 * 365))
    temp = np.zeros(hours)
    for i in range(1, hours):
        temp[i] = 0.97 * temp[i - 1] + rng.normal(0, 0.15)
    load = 40 + 8 * day * (1 + 0.3 * season) + 5 * week + 4 * season + 3 * np.abs(temp)
    return load + rng.normal(0, 0.6, hours), temp, t


def windows(load, temp, t, start, stop, mu, sd):
    h, k = cfg["history"], cfg["horizon"]
    hour = 2 * np.pi * (t % 24) / 24
    dow = 2 * np.pi * ((t // 24) % 7) / 7
    feats = np.stack([(load - mu) / sd, temp, np.sin(hour), np.cos(hour),
                      np.sin(dow), np.cos(dow)], axis=-1)
    idx = np.arange(start + h, stop - k)
    x = np.stack([feats[i - h:i] for i in idx])
    y = np.stack([(load[i:i + k] - mu) / sd for i in idx])
    return x.astype("float32"), y.astype("float32")


def build():
    inp = keras.Input((cfg["history"], 6))
    x = layers.Conv1D(32, 3, padding="causal", activation="relu")(inp)
    for d in (2, 4, 8, 16):
        r = x
        x = layers.Conv1D(32, 3, padding="causal", dilation_rate=d, activation="relu")(x)
        x = layers.Add()([x, r])
    x = layers.Lambda(lambda z: z[:, -1, :])(x)
    x = layers.Dense(64, activation="relu")(x)
    return keras.Model(inp, layers.Dense(cfg["horizon"])(x))


def main():
    os.makedirs(cfg["out_dir"], exist_ok=True)
    keras.utils.set_random_seed(cfg["seed"])
    rng = np.random.default_rng(cfg["seed"])
    load, temp, t = simulate_load(24 * 220, rng)
    cut1, cut2 = 24 * 150, 24 * 185
    mu, sd = load[:cut1].mean(), load[:cut1].std()
    x_tr, y_tr = windows(load, temp, t, 0, cut1, mu, sd)
    x_va, y_va = windows(load, temp, t, cut1, cut2, mu, sd)
    x_te, y_te = windows(load, temp, t, cut2, len(load), mu, sd)

    steps_per_epoch = int(np.ceil(len(x_tr) / cfg["batch_size"]))
    schedule = keras.optimizers.schedules.CosineDecay(
        initial_learning_rate=cfg["peak_lr"],
        decay_steps=cfg["epochs"],
        alpha=0.0,
    )
    model = build()
    model.compile(optimizer=keras.optimizers.AdamW(schedule, weight_decay=1e-4),
                  loss="mse", metrics=["mae"])
    print(f"{len(x_tr)} windows, {steps_per_epoch} steps per epoch, {model.count_params()} params")
    log = keras.callbacks.CSVLogger(os.path.join(cfg["out_dir"], "load_forecast.csv"))
    model.fit(x_tr, y_tr, validation_data=(x_va, y_va), epochs=cfg["epochs"],
              batch_size=cfg["batch_size"], callbacks=[log], verbose=2)

    pred = model.predict(x_te, verbose=0)
    mae = np.abs(pred - y_te).mean() * sd
    same_hour_yesterday = np.stack([x_te[:, -24 + j, 0] for j in range(cfg["horizon"])], 1)
    naive = np.abs(same_hour_yesterday - y_te).mean() * sd
    print(f"test MAE {mae:.3f} MW   (same hour yesterday: {naive:.3f} MW)")


if __name__ == "__main__":
    main()
