"""Carry a PV yield model from the pilot plant over to a second site.

Stage 1 fits the pilot plant from scratch, stage 2 gently adapts a copy to the new site
(other tilt, other soiling, hotter roof), with the precision policy used on the edge box.
"""
import os
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import keras
from keras import layers

EDGE_POLICY = "mixed_float16"
HIDDEN = (64, 64)


def plant(n, seed, tilt=0.0, soiling=0.0, heat=0.006):
    r = np.random.default_rng(seed)
    day = r.integers(0, 365, n)
    cloud = r.beta(1.2, 1.5, n)
    temp = 12 - 11 * np.cos(2 * np.pi * (day - 15) / 365) + r.normal(0, 4, n)
    wind = r.gamma(2.0, 1.8, n)
    haze = r.exponential(0.3, n)
    season = np.cos(2 * np.pi * (day + 10) / 365)
    clear = 5.0 - (3.2 - tilt) * season
    cell_temp = temp + 9 * (1 - cloud) - 0.8 * wind
    kwh = clear * (1 - 0.75 * cloud ** 1.6) * np.exp(-(0.35 + soiling) * haze) * (1 - heat * (cell_temp - 20))
    kwh += r.normal(0, 0.06, n)
    x = np.column_stack([np.sin(2 * np.pi * day / 365), np.cos(2 * np.pi * day / 365), cloud, temp, wind, haze])
    return x.astype("float32"), kwh.astype("float32")[:, None]


class Scaling:
    def __init__(self, x, y):
        self.mx, self.sx = x.mean(0), x.std(0)
        self.my, self.sy = y.mean(), y.std()

    def x(self, a):
        return (a - self.mx) / self.sx

    def y(self, a):
        return (a - self.my) / self.sy

    def undo(self, a):
        return a.astype("float32") * self.sy + self.my


class EpochPrinter(keras.callbacks.Callback):
    def __init__(self, tag, every):
        super().__init__()
        self.tag, self.every = tag, every

    def on_train_begin(self, logs=None):
        self.t = time.time()

    def on_epoch_end(self, epoch, logs=None):
        if (epoch + 1) % self.every == 0:
            print(f"{self.tag} [{time.time() - self.t:5.1f}s] epoch {epoch + 1:02d} mse {logs['loss']:.4f}")


def build(n_in, policy):
    inp = keras.Input((n_in,))
    h = inp
    for units in HIDDEN:
        h = layers.Dense(units, activation="tanh", dtype=policy)(h)
    h = layers.Dense(1, dtype=policy, name="yield")(h)
    out = layers.Activation("linear", dtype="float32")(h)
    return keras.Model(inp, out)


def rmse(model, sc, x, y):
    return float(np.sqrt(np.mean((sc.undo(model.predict(sc.x(x), batch_size=500, verbose=0)) - y) ** 2)))


def main():
    keras.utils.set_random_seed(31)
    xa, ya = plant(4000, 1)
    new_site = dict(tilt=1.6, soiling=0.5, heat=0.012)
    xb, yb = plant(2400, 2, **new_site)
    xt, yt = plant(1500, 3, **new_site)
    sc = Scaling(xa, ya)

    pilot = build(xa.shape[1], "float32")
    pilot.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
    pilot.fit(sc.x(xa), sc.y(ya), epochs=12, batch_size=64, verbose=0, callbacks=[EpochPrinter("pilot", 4)])

    site = build(xa.shape[1], EDGE_POLICY)
    site.set_weights(pilot.get_weights())
    site.compile(optimizer=keras.optimizers.Lion(1e-5), loss="mse")
    site.fit(sc.x(xb), sc.y(yb), epochs=30, batch_size=32, verbose=0, callbacks=[EpochPrinter("site ", 3)])

    print(f"new site RMSE  untouched pilot {rmse(pilot, sc, xt, yt):.3f}  adapted {rmse(site, sc, xt, yt):.3f} kWh"
          f"  (site mean {yt.std():.3f})")
    print("stored as", site.layers[1].kernel.dtype)


if __name__ == "__main__":
    main()
