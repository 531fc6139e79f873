import keras
import numpy as np
from keras import layers, ops

PLAN = {"sensors": 8, "rows": 4000, "batch": 50, "lr": 0.001, "epochs": 15}


@keras.saving.register_keras_serializable()
class GapFill(layers.Layer):
    def call(self, x):
        missing = ops.isnan(x)
        clean = ops.where(missing, ops.zeros_like(x), x)
        return ops.concatenate([clean, ops.cast(missing, x.dtype)], axis=-1)


def plant(rows, rng):
    state = rng.normal(size=(rows, 3))
    mix = np.random.default_rng(0).normal(size=(3, PLAN["sensors"]))
    x = state @ mix + rng.normal(0, 0.3, size=(rows, PLAN["sensors"]))
    y = np.tanh(state[:, 0]) + 0.5 * state[:, 1] * state[:, 2] + rng.normal(0, 0.1, rows)
    x[rng.random(x.shape) < 0.2] = np.nan
    return x.astype("float32"), y.astype("float32")


def scale_with(x, ref):
    return (x - np.nanmean(ref, axis=0)) / np.nanstd(ref, axis=0)


class Feed(keras.utils.PyDataset):
    def __init__(self, x, y, batch, rng, **kw):
        super().__init__(**kw)
        self.x, self.y, self.batch, self.rng = x, y, batch, rng
        self.order = rng.permutation(len(x))

    def __len__(self):
        return len(self.x) // self.batch

    def __getitem__(self, i):
        pick = self.order[i * self.batch:(i + 1) * self.batch]
        return self.x[pick], self.y[pick, None]

    def on_epoch_end(self):
        self.order = self.rng.permutation(len(self.x))


def main():
    keras.utils.set_random_seed(80)
    rng = np.random.default_rng(80)
    x_tr, y_tr = plant(PLAN["rows"], rng)
    x_te, y_te = plant(1000, rng)
    x_te, x_tr = scale_with(x_te, x_tr), scale_with(x_tr, x_tr)
    print(f"share of missing readings {np.isnan(x_tr).mean():.3f}")

    model = keras.Sequential([
        keras.Input((PLAN["sensors"],)),
        GapFill(),
        layers.Dense(64, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(1),
    ])
    model.compile(
        optimizer=keras.optimizers.SGD(PLAN["lr"], momentum=0.9, clipnorm=20.0),
        loss=keras.losses.MeanSquaredError(reduction="sum"),
        metrics=[keras.metrics.MeanSquaredError(name="mse")],
    )
    hist = model.fit(
        Feed(x_tr, y_tr, PLAN["batch"], rng),
        epochs=PLAN["epochs"], shuffle=False, verbose=0,
    )
    h = hist.history
    print(f"loss {h['loss'][0]:.2f} -> {h['loss'][-1]:.2f}   train mse {h['mse'][0]:.3f} -> {h['mse'][-1]:.3f}")
    pred = model.predict(x_te, verbose=0)[:, 0]
    mse = np.mean((pred - y_te) ** 2)
    print(f"test mse {mse:.4f}   variance {y_te.var():.4f}   r2 {1 - mse / y_te.var():.3f}")


if __name__ == "__main__":
    main()
