"""Berth bookings: length of stay (days), spend (euro) and kind of guest from a few fields."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(17)
keras.mixed_precision.set_global_policy("mixed_bfloat16")

FLAGS = np.array(["nl", "de", "fr", "uk", "se"])
FORM = {"flag": "string", "length": "float32", "month": "int32", "crew": "float32"}


def bookings(n, seed):
    rng = np.random.default_rng(seed)
    flag = rng.integers(0, 5, n)
    length = rng.gamma(9, 1.2, n)
    month = rng.integers(4, 11, n)
    crew = rng.integers(1, 9, n)
    score = 0.9 * (flag == 3) + 0.35 * (length - 11) + 0.8 * (month > 8) - 0.25 * crew
    charter = (score + rng.normal(0, 0.3, n) > 1.3).astype("int32")
    stay = np.exp(0.3 + 0.25 * np.sin(month) + 0.12 * flag + 0.05 * length + rng.normal(0, 0.1, n))
    spend = 22.0 * length * stay * (1 + 0.6 * charter) + rng.normal(0, 60, n)
    billed = rng.random(n) < 0.7                     # the others pay through an agency
    spend = np.where(billed, spend, 0.0)
    x = {"flag": FLAGS[flag], "length": length, "month": month, "crew": crew}
    y = {"stay": stay, "spend": spend, "charter": charter}
    share = charter.mean()
    w = {
        "stay": np.ones(n),
        "spend": billed.astype("float32"),
        "charter": np.where(charter == 1, 0.5 / share, 0.5 / (1 - share)),
    }
    col = lambda a, t="float32": np.asarray(a).astype(t)[:, None]
    x = {k: tf.constant(v[:, None].tolist()) if FORM[k] == "string" else col(v, FORM[k]) for k, v in x.items()}
    return x, {k: col(v) for k, v in y.items()}, {k: v.astype("float32") for k, v in w.items()}


def features(x):
    inputs = {k: keras.Input((1,), name=k, dtype=t) for k, t in FORM.items()}
    flag = layers.StringLookup(vocabulary=FLAGS.tolist(), output_mode="one_hot")(inputs["flag"])
    month = layers.Flatten()(layers.Embedding(11, 3)(inputs["month"]))
    numbers = []
    for k in ("length", "crew"):
        norm = layers.Normalization(dtype="float32")
        norm.adapt(x[k])
        numbers.append(norm(inputs[k]))
    return inputs, layers.Concatenate()([flag, month, *numbers])


def main():
    x, y, w = bookings(8000, 1)
    xt, yt, wt = bookings(2000, 2)

    inputs, h = features(x)
    h = layers.Dense(64, activation="gelu")(h)
    h = h + layers.Dense(64, activation="gelu")(h)
    outputs = {
        "stay": layers.Dense(1, activation="exponential", dtype="float32", name="stay")(h),
        "spend": layers.Rescaling(500.0, dtype="float32", name="spend")(layers.Dense(1, dtype="float32")(h)),
        "charter": layers.Dense(1, activation="sigmoid", dtype="float32", name="charter")(h),
    }
    model = keras.Model(inputs, outputs)
    model.compile(
        optimizer=keras.optimizers.AdamW(
            keras.optimizers.schedules.CosineDecay(0.0, 2000, warmup_target=4e-3, warmup_steps=200),
            weight_decay=1e-3,
        ),
        loss={"stay": "poisson", "spend": keras.losses.Huber(delta=100.0), "charter": "binary_crossentropy"},
        loss_weights={"stay": 1.0, "spend": 1e-4, "charter": 1.0},
        metrics={"stay": ["mae"], "charter": [keras.metrics.AUC(name="auc")]},
        weighted_metrics={"spend": ["mae"]},
    )
    train = tf.data.Dataset.from_tensor_slices((x, y, w)).shuffle(8000).batch(64).prefetch(2)
    model.fit(train, epochs=16, verbose=2)

    out = model.predict(xt, batch_size=500)
    billed = wt["spend"] > 0
    charter = yt["charter"][:, 0] == 1
    said = out["charter"][:, 0] > 0.5
    print("charter share %.3f" % charter.mean())
    print("stay  mae %.2f (mean guess %.2f)" % tuple(np.abs(v - yt["stay"]).mean() for v in (out["stay"], y["stay"].mean())))
    true = yt["spend"][billed]
    print("spend mae %.0f (mean guess %.0f)" % tuple(np.abs(v - true).mean() for v in (out["spend"][billed], true.mean())))
    print("charter recall %.3f, specificity %.3f" % (said[charter].mean(), (~said[~charter]).mean()))


if __name__ == "__main__":
    main()
