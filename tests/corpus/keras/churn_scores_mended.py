"""Telecom churn: mixed categorical / numeric model with preprocessing layers, ranked by risk."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, log_loss, roc_auc_score

PLANS = ["basic", "family", "business", "prepaid"]
REGIONS = ["north", "south", "east", "west", "islands"]
NUMERIC = ["tenure", "minutes", "calls_to_support", "bill", "dropped"]


def make_customers(n, rng):
    table = {
        "plan": rng.choice(PLANS, n, p=[0.4, 0.3, 0.1, 0.2]),
        "region": rng.choice(REGIONS, n),
        "tenure": rng.gamma(2.0, 14.0, n),
        "minutes": rng.gamma(3.0, 90.0, n),
        "calls_to_support": rng.poisson(0.8, n).astype(float),
        "dropped": rng.gamma(1.5, 2.0, n),
    }
    table["bill"] = 12 + 0.06 * table["minutes"] + 8 * (table["plan"] == "business") + rng.normal(0, 4, n)
    z = (-3.3 - 0.035 * table["tenure"]
         + 0.75 * table["calls_to_support"]
         + 1.4 * (table["plan"] == "prepaid") * (table["minutes"] < 200)
         + 0.25 * table["dropped"] * np.isin(table["region"], ["islands", "west"])
         + 0.06 * np.maximum(table["bill"] - 35, 0))
    churned = rng.random(n) < 1 / (1 + np.exp(-z))
    for k in NUMERIC:
        table[k] = table[k].astype("float32")[:, None]
    return table, churned.astype("float32")


def take(table, idx):
    return {k: v[idx] for k, v in table.items()}


def encode_ids(table):
    out = dict(table)
    for key, vocab in (("plan", PLANS), ("region", REGIONS)):
        lookup = {v: i for i, v in enumerate(vocab)}
        out[key] = np.array([lookup[v] for v in table[key]], "int32")[:, None]
    return out


def build(train):
    inputs, parts = {}, []
    for key, size in (("plan", len(PLANS)), ("region", len(REGIONS))):
        inputs[key] = keras.Input((1,), dtype="int32", name=key)
        parts.append(layers.Flatten()(layers.Embedding(size, 4)(inputs[key])))
    for key in NUMERIC:
        inputs[key] = keras.Input((1,), name=key)
        norm = layers.Normalization(axis=-1)
        norm.adapt(train[key])
        parts.append(norm(inputs[key]))
    x = layers.Concatenate()(parts)
    x = layers.Dense(48, activation="gelu")(x)
    x = layers.Dropout(0.1)(x)
    x = layers.Dense(24, activation="gelu")(x)
    return keras.Model(inputs, layers.Dense(1, activation="sigmoid")(x))


class Report:
    """Collects what goes on the one-page summary."""

    def __init__(self, y_true, prob):
        self.y_true = y_true.astype(int)
        self.prob = prob
        self.flagged = (prob >= 0.5).astype(int)

    def rows(self):
        y, k = self.y_true, max(1, len(self.y_true) // 20)
        top = np.argsort(-self.prob)[:k]
        yield "log loss", log_loss(y, self.prob)
        yield "base-rate log loss", log_loss(y, np.full(len(y), y.mean()))
        yield "ROC AUC", roc_auc_score(y, self.prob)
        yield "average precision", average_precision_score(y, self.prob)
        yield "churn rate", y.mean()
        yield "churn rate in riskiest 5%", y[top].mean()
        yield "share flagged", self.flagged.mean()


def main():
    keras.utils.set_random_seed(23)
    rng = np.random.default_rng(23)
    raw, y = make_customers(12000, rng)
    table = encode_ids(raw)
    order = rng.permutation(len(y))
    tr, va, te = order[:7500], order[7500:9000], order[9000:]

    model = build(take(table, tr))
    model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="binary_crossentropy")
    train = tf.data.Dataset.from_tensor_slices((take(table, tr), y[tr])) \
        .shuffle(len(tr), seed=23).batch(128)
    val = tf.data.Dataset.from_tensor_slices((take(table, va), y[va])).batch(512)
    stop = keras.callbacks.EarlyStopping(patience=4, restore_best_weights=True)
    hist = model.fit(train, validation_data=val, epochs=20, callbacks=[stop], verbose=0)
    for e, (a, b) in enumerate(zip(hist.history["loss"], hist.history["val_loss"]), 1):
        if e % 4 == 0:
            print(f"epoch {e:2d}  loss {a:.4f}  val_loss {b:.4f}")

    prob = model.predict(take(table, te), batch_size=512, verbose=0)[:, 0]
    for name, value in Report(y[te], prob).rows():
        print(f"{name:28s}{value:.4f}")
    flat = np.concatenate([table[k] for k in NUMERIC], 1)
    linear = LogisticRegression(max_iter=2000).fit(flat[tr] / flat[tr].std(0), y[tr])
    ref = linear.decision_function(flat[te] / flat[tr].std(0))
    print(f"{'linear ROC AUC (numeric)':28s}{roc_auc_score(y[te], ref):.4f}")


if __name__ == "__main__":
    main()
