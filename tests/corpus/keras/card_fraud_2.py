"""Card fraud, about 2 % positives: class weights, prior in the output bias, average precision."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import keras
from keras import layers


def transactions(n, seed):
    rng = np.random.default_rng(seed)
    fraud = rng.uniform(size=n) < 0.02
    amount = rng.lognormal(3 + 0.9 * fraud, 1.0)
    hour = np.where(fraud, rng.normal(3, 3, n), rng.normal(14, 4, n)) % 24
    distance = rng.gamma(1.5 + 3.0 * fraud, 10)
    tries = rng.poisson(0.2 + 2.0 * fraud)
    country = rng.integers(0, 12, n)
    country = np.where(fraud & (rng.uniform(size=n) < 0.6), rng.integers(9, 12, n), country)
    num = np.stack([np.log(amount), np.sin(hour * np.pi / 12), np.cos(hour * np.pi / 12),
                    np.log1p(distance), tries], 1).astype("float32")
    return {"num": num, "country": country.astype("int32")}, fraud.astype("float32")


def average_precision(y, score):
    y = y[np.argsort(-score)]
    precision = np.cumsum(y) / np.arange(1, len(y) + 1)
    return float((precision * y).sum() / y.sum())


def build(norm, prior):
    num = keras.Input((5,), name="num")
    country = keras.Input((), dtype="int32", name="country")
    h = layers.Concatenate()([norm(num), layers.Embedding(12, 4)(country)])
    h = layers.Dense(32, activation="relu")(h)
    h = layers.Dense(16, activation="relu")(h)
    bias = keras.initializers.Constant(float(np.log(prior / (1 - prior))))
    out = layers.Dense(1, activation="sigmoid", bias_initializer=bias)(h)
    return keras.Model({"num": num, "country": country}, out)


def main():
    keras.utils.set_random_seed(10)
    x, y = transactions(30000, 1)
    xt, yt = transactions(10000, 2)
    prior = float(y.mean())
    norm = layers.Normalization()
    norm.adapt(x["num"])
    model = build(norm, prior)
    model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="binary_crossentropy",
                  metrics=[keras.metrics.AUC(name="roc"), keras.metrics.AUC(curve="PR", name="pr")])
    weight = {0: 0.5 / (1 - prior), 1: 0.5 / prior}
    print("class weights", {k: round(v, 2) for k, v in weight.items()})
    model.fit(x, y, epochs=6, batch_size=512, class_weight=weight, verbose=2)
    score = model.predict(xt, batch_size=2000, verbose=0)[:, 0]
    flagged = score > 0.5
    print(f"average precision {average_precision(yt, score):.3f} (chance {yt.mean():.3f})")
    print(f"recall {flagged[yt == 1].mean():.3f}, false alarms {flagged[yt == 0].mean():.3f}")


if __name__ == "__main__":
    main()
