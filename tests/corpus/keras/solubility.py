import keras
import numpy as np
from keras import layers


def molecules(n, rng):
    weight = rng.uniform(80, 600, n)
    rings = rng.poisson(2.0, n)
    donors = rng.poisson(1.5, n)
    logp = rng.normal(2.0, 1.4, n)
    charge = rng.choice([-1, 0, 0, 0, 1], n)
    log_s = -1.2 - 0.006 * weight - 0.35 * rings - 0.6 * np.maximum(logp, 0) + 0.25 * np.abs(charge)
    log_s = np.minimum(log_s + 0.15 * donors + rng.normal(0, 0.3, n), -0.1)
    table = np.stack([weight, rings, donors, logp, charge], axis=1)
    return table.astype("float32"), log_s.astype("float32")


def batches(x, y, size, rng):
    while True:
        order = rng.permutation(len(x))
        for i in range(0, len(order) - size + 1, size):
            pick = order[i:i + size]
            yield x[pick], y[pick, None]


def dense_stack(widths, activation, name):
    return keras.Sequential([layers.Dense(w, activation=activation) for w in widths], name=name)


def build(n_features, trunk_widths, head_widths):
    inp = keras.Input((n_features,))
    trunk = dense_stack(trunk_widths, "relu", "trunk")
    head = dense_stack(head_widths + [1], "relu", "head")
    return keras.Model(inp, head(trunk(inp)))


def main():
    keras.utils.set_random_seed(33)
    rng = np.random.default_rng(33)
    x_tr, y_tr = molecules(3000, rng)
    x_va, y_va = molecules(500, rng)
    x_te, y_te = molecules(800, rng)
    mean, std = x_tr.mean(0), x_tr.std(0)
    x_tr, x_va, x_te = ((a - mean) / std for a in (x_tr, x_va, x_te))

    model = build(x_tr.shape[1], [48, 48], [16])
    model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse", metrics=["mae"])
    plateau = keras.callbacks.ReduceLROnPlateau("val_loss", factor=0.5, patience=3)
    model.fit(
        batches(x_tr, y_tr, 64, rng),
        steps_per_epoch=len(x_tr) // 64,
        epochs=15,
        validation_data=(x_va, y_va[:, None]),
        callbacks=[plateau],
        verbose=2,
    )
    pred = model.predict(x_te, verbose=0)[:, 0]
    mse = np.mean((pred - y_te) ** 2)
    print(f"test mse {mse:.4f}  r2 {1 - mse / y_te.var():.3f}  mean prediction {pred.mean():.3f}  mean target {y_te.mean():.3f}")


if __name__ == "__main__":
    main()
