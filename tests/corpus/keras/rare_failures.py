import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
from keras import layers
from sklearn.metrics import average_precision_score, recall_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import QuantileTransformer


def fleet(n=12000, seed=18):
    rng = np.random.default_rng(seed)
    km = rng.gamma(3, 40000, n)
    temp = rng.normal(88, 6, n)
    oil = rng.normal(310000, 45000, n)
    volts = rng.normal(13.8, 0.4, n)
    jolts = rng.poisson(12, n)
    z = (2.0 * (km / 120000 - 1) + 0.28 * (temp - 88) - 1.8 * (oil - 310000) / 45000
         - 1.2 * (volts - 13.8) / 0.4 - 7.6)
    y = (rng.random(n) < 1 / (1 + np.exp(-z))).astype("float32")
    return np.column_stack([km, temp, oil, volts, jolts]), y


def build(dim, rate):
    prior = keras.initializers.Constant(np.log(rate / (1 - rate)))
    inp = keras.Input((dim,))
    h = layers.Dense(32, activation="relu")(inp)
    h = layers.Dense(32, activation="relu")(h)
    out = layers.Dense(1, bias_initializer=prior, kernel_initializer="zeros")(h)
    model = keras.Model(inp, out)
    model.compile(optimizer=keras.optimizers.Adam(3e-3),
                  loss=keras.losses.BinaryCrossentropy(from_logits=True),
                  metrics=[keras.metrics.AUC(curve="PR", from_logits=True, name="pr")])
    return model


def main():
    keras.utils.set_random_seed(70)
    x, y = fleet()
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.3, stratify=y, random_state=0)
    warp = QuantileTransformer(output_distribution="normal", n_quantiles=300, random_state=0).fit(x_tr)
    a, b = warp.transform(x_tr).astype("float32"), warp.transform(x_te).astype("float32")
    model = build(a.shape[1], float(y_tr.mean()))
    print(f"loss before training {model.evaluate(a, y_tr, batch_size=512, verbose=0)[0]:.4f}")
    stop = keras.callbacks.EarlyStopping(monitor="val_pr", mode="max", patience=5, restore_best_weights=True)
    hist = model.fit(a, y_tr, validation_split=0.2, epochs=25, batch_size=256, callbacks=[stop], verbose=0)
    print(f"loss after {len(hist.history['loss'])} epochs {hist.history['loss'][-1]:.4f}")
    order = model.predict(a, batch_size=512, verbose=0)[:, 0]
    cut = np.quantile(order, 0.95)
    logit = model.predict(b, batch_size=512, verbose=0)[:, 0]
    print(f"failures {y_te.mean():.4f}  average precision {average_precision_score(y_te, logit):.3f}  "
          f"recall when 5% are inspected {recall_score(y_te, logit > cut):.3f}")


if __name__ == "__main__":
    main()
