import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import keras
from keras import layers


def seeds(n, rng, share=0.02):
    """Colour/shape measurements of single seeds, two per cent of them defective."""
    y = (rng.random(n) < share).astype("int32")
    x = rng.normal(size=(n, 10))
    x[:, 2] += 0.8 * x[:, 1]
    kind = rng.integers(0, 2, n)
    x[:, 4] += np.where(y == 1, np.where(kind == 0, 3.0, -2.5), 0)
    x[:, 5] += np.where(y == 1, np.where(kind == 0, -2.0, 3.0), 0)
    x[:, 6] -= 1.8 * y
    return x.astype("float32"), y


def main():
    keras.utils.set_random_seed(80)
    rng = np.random.default_rng(80)
    x, y = seeds(24000, rng)
    xv, yv = seeds(8000, rng)
    pos = y.mean()
    weights = {0: 0.5 / (1 - pos), 1: 0.5 / pos}
    print(f"defective {pos:.3f}  class weights {weights[0]:.2f} / {weights[1]:.2f}")

    model = keras.Sequential([
        keras.Input((10,)),
        layers.Dense(48, activation="relu"),
        layers.Dense(24, activation="relu"),
        layers.Dense(1, activation="sigmoid"),
    ])
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss="binary_crossentropy",
        metrics=[keras.metrics.AUC(curve="PR", name="pr_auc"), keras.metrics.Recall(name="recall"), keras.metrics.Precision(name="precision")],
    )
    stop = keras.callbacks.EarlyStopping(monitor="val_pr_auc", mode="max", patience=5, restore_best_weights=True)
    model.fit(x, y, validation_data=(xv, yv), epochs=20, batch_size=256, class_weight=weights, callbacks=[stop], verbose=2)

    p = model.predict(x, verbose=0)[:, 0]
    grid = np.linspace(0.05, 0.99, 95)
    f1 = [2 * ((p > t) & (y == 1)).sum() / max(((p > t).sum() + y.sum()), 1) for t in grid]
    cut = grid[int(np.argmax(f1))]
    pv = model.predict(xv, verbose=0)[:, 0] > cut
    tp = (pv & (yv == 1)).sum()
    print(f"cut {cut:.2f} chosen on training data: held-out recall {tp / yv.sum():.3f} precision {tp / pv.sum():.3f}")


if __name__ == "__main__":
    main()
