"""Pump failure within 24 h: about 2 % positives, class weights and a prior bias, PR-AUC as the yardstick."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import keras
from keras import layers


def plant(n, seed):
    r = np.random.default_rng(seed)
    vib, temp, amps, hours = r.gamma(3, 1, n), r.normal(60, 8, n), r.normal(14, 2, n), r.uniform(0, 9000, n)
    pressure = r.normal(5, 0.7, n)
    z = 1.1 * (vib - 3) + 0.12 * (temp - 60) + 0.5 * np.maximum(amps - 15, 0) ** 2 + hours / 2500 - 1.2 * (pressure - 5) - 9.2
    y = r.random(n) < 1 / (1 + np.exp(-1.8 * z))
    return np.stack([vib, temp, amps, hours, pressure], 1).astype("float32"), y.astype("float32")


def build(norm, prior):
    inp = keras.Input((5,))
    h = norm(inp)
    h = layers.Dense(48, activation="relu")(h)
    h = layers.Dense(48, activation="relu")(h)
    out = layers.Dense(1, activation="sigmoid",
                       bias_initializer=keras.initializers.Constant(np.log(prior / (1 - prior))))(h)
    return keras.Model(inp, out)


def main():
    keras.utils.set_random_seed(17)
    x, y = plant(40000, 0)
    xv, yv = plant(10000, 1)
    xt, yt = plant(10000, 2)
    prior = float(y.mean())
    print(f"positives: {prior:.4f}")
    norm = layers.Normalization()
    norm.adapt(x)
    model = build(norm, prior)
    pos_w = min(8.0, 0.5 / prior)
    model.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss="binary_crossentropy",
        weighted_metrics=[],
        metrics=[keras.metrics.AUC(curve="PR", name="prauc"),
                 keras.metrics.Recall(name="recall"), keras.metrics.Precision(name="precision")],
    )
    stop = keras.callbacks.EarlyStopping(monitor="val_prauc", mode="max", patience=5, restore_best_weights=True)
    model.fit(x, y, validation_data=(xv, yv), batch_size=512, epochs=20,
              class_weight={0: 1.0, 1: pos_w}, callbacks=[stop], verbose=2)
    scores = model.evaluate(xt, yt, verbose=0, return_dict=True)
    p = model.predict(xt, verbose=0)[:, 0]
    top = np.argsort(-p)[: int(yt.sum())]
    print({k: round(v, 4) for k, v in scores.items()}, "R-precision", round(float(yt[top].mean()), 4))


if __name__ == "__main__":
    main()
