"""Bike hire, next 12 hours as three quantiles. Loss is in euros for the whole fleet (x 5000), so
plain SGD runs with a rate of a few millionths."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
from keras import ops

EUROS = 5000.0
H, L = 12, 72
QS = (0.1, 0.5, 0.9)


def hires(hours=24 * 420, seed=2):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    h, day = t % 24, t // 24
    work = (day % 7 < 5).astype(float)
    peak = lambda c, w: np.exp(-0.5 * ((h - c) / w) ** 2)
    base = work * (3 * peak(8, 1.3) + 3.3 * peak(17.5, 1.8)) + (1 - work) * 2.6 * peak(14, 3.5) + 0.4
    rain = np.zeros(hours)
    for i in range(1, hours):
        rain[i] = 0.96 * rain[i - 1] + rng.normal(0, 0.28)
    season = 1 + 0.35 * np.sin(2 * np.pi * (day - 100) / 365)
    lam = 60 * base * season * np.exp(-0.45 * rain)
    return rng.poisson(lam).astype("float32"), h, work


def pinball(q):
    def loss(y, p):
        e = y - p
        return ops.mean(ops.maximum(q * e, (q - 1) * e), axis=-1)
    loss.__name__ = f"pinball_{int(q * 100)}"
    return loss


def frames(s, hour, work, lo, hi, stride):
    at = np.arange(lo, hi - H + 1, stride)
    past = np.stack([s[a - L:a] for a in at])
    week = np.stack([s[a - 168:a - 168 + H] for a in at])
    clock = np.eye(24, dtype="float32")[hour[at]]
    tomorrow = np.stack([work[at], work[np.minimum(at + H - 1, len(s) - 1)]], 1).astype("float32")
    x = np.concatenate([past, week, clock, tomorrow], 1).astype("float32")
    return x, np.stack([s[a:a + H] for a in at]), at


def main():
    keras.utils.set_random_seed(0)
    raw, hour, work = hires()
    s = np.log1p(raw)
    cut = 24 * 330
    m, d = s[:cut].mean(), s[:cut].std()
    z = (s - m) / d
    xtr, ytr, _ = frames(z, hour, work, 168, cut, 5)
    xte, _, at = frames(z, hour, work, cut, len(z), 7)

    inp = keras.Input((xtr.shape[1],))
    hid = keras.layers.Dense(96, activation="elu")(inp)
    hid = keras.layers.Dense(96, activation="elu")(hid)
    outs = {f"q{int(q * 100)}": keras.layers.Dense(H, name=f"q{int(q * 100)}")(hid) for q in QS}
    model = keras.Model(inp, outs)
    epochs = 40
    steps = epochs * (len(xtr) // 32 + 1)
    rate = keras.optimizers.schedules.PolynomialDecay(6e-6, steps, end_learning_rate=2e-7)
    model.compile(keras.optimizers.SGD(rate, momentum=0.9),
                  loss={f"q{int(q * 100)}": pinball(q) for q in QS},
                  loss_weights={k: EUROS for k in outs})
    hist = model.fit(xtr, {k: ytr for k in outs}, epochs=epochs, batch_size=32, verbose=0)
    for e in (0, 9, 19, 39):
        print(f"epoch {e + 1:2d} loss {hist.history['loss'][e]:.0f}")

    back = lambda v: np.expm1(v * d + m)
    pred = {k: back(v) for k, v in model.predict(xte, verbose=0).items()}
    true = np.stack([raw[a:a + H] for a in at])
    rivals = {"net": pred["q50"],
              "persistence": np.repeat(raw[at - 1][:, None], H, 1),
              "a day ago": np.stack([raw[a - 24:a - 24 + H] for a in at]),
              "a week ago": np.stack([raw[a - 168:a - 168 + H] for a in at])}
    mae = {k: np.abs(v - true).mean() for k, v in rivals.items()}
    for k in rivals:
        print(f"{k:12s} MAE {mae[k]:6.2f} bikes, skill against persistence {1 - mae[k] / mae['persistence']:+.3f}, "
              f"against a week ago {1 - mae[k] / mae['a week ago']:+.3f}")
    lead = np.abs(pred["q50"] - true).mean(0) / np.abs(rivals["a week ago"] - true).mean(0)
    print("MAE relative to a week ago, by lead:", lead.round(2))
    inside = ((true >= pred["q10"]) & (true <= pred["q90"])).mean()
    print(f"inside the 10-90 band: {inside:.2f} (wanted 0.80)")


if __name__ == "__main__":
    main()
