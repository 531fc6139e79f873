import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
from keras import layers, ops

N_ASSAYS = 5


def compounds(n, seed, n_in=10):
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(n, 4))
    x = latent @ rng.normal(size=(4, n_in)) / 2 + 0.5 * rng.normal(size=(n, n_in))
    x = (x - x.mean(0)) / x.std(0)
    mix = rng.normal(size=(x.shape[1], N_ASSAYS)) / 3.0
    y = np.tanh(x @ mix) + 0.3 * (x[:, :1] * x[:, 1:2]) + rng.normal(scale=0.1, size=(len(x), N_ASSAYS))
    seen = y.copy()
    seen[rng.random(y.shape) < 0.7] = np.nan
    return x.astype("float32"), y.astype("float32"), seen.astype("float32")


def gap_mse(y_true, y_pred):
    known = ops.logical_not(ops.isnan(y_true))
    target = ops.where(known, y_true, ops.zeros_like(y_true))
    error = ops.where(known, ops.square(target - y_pred), ops.zeros_like(y_pred))
    return ops.sum(error) / ops.maximum(ops.sum(ops.cast(known, "float32")), 1.0)


def build(n_in):
    inputs = keras.Input((n_in,))
    h = layers.Dense(64, activation="swish")(inputs)
    h = layers.Dense(64, activation="swish")(h)
    return keras.Model(inputs, layers.Dense(N_ASSAYS)(h))


def main():
    keras.utils.set_random_seed(31)
    x, full, seen = compounds(2600, 4)
    train, test = slice(0, 2000), slice(2000, None)
    print("share of missing labels:", round(float(np.isnan(seen[train]).mean()), 3))
    model = build(x.shape[1])
    model.compile(optimizer=keras.optimizers.Adam(3e-3), loss=gap_mse)
    model.fit(x[train], seen[train], epochs=20, batch_size=50, validation_data=(x[test], seen[test]), verbose=2)
    pred = model.predict(x[test], verbose=0)
    r2 = 1 - ((pred - full[test]) ** 2).sum(0) / ((full[test] - full[test].mean(0)) ** 2).sum(0)
    print("R2 per assay on complete labels:", np.round(r2, 3))


if __name__ == "__main__":
    main()
