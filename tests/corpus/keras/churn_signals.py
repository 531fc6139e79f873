"""Telecom churn: who leaves within 60 days. Interaction-heavy synthetic book of customers."""
import argparse
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import keras
from keras import layers
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

FIELDS = ["tenure", "minutes", "data_gb", "price", "calls_support", "age", "discount", "contract_left"]


def customers(n, seed):
    r = np.random.default_rng(seed)
    z = r.normal(size=(n, len(FIELDS)))
    tenure, minutes, data_gb, price, support, age, discount, left = z.T
    # heavy users hate a cheap slow plan, light users hate an expensive one
    mismatch = -data_gb * price
    # support calls hurt only when the customer is young in tenure, soothe otherwise
    care = -support * tenure
    edge = 1.5 * (np.abs(left) - 0.8)
    score = 1.6 * mismatch + 1.4 * care + edge - 0.5 * discount * minutes
    churn = (score + r.logistic(0, 0.4, n) > 0).astype("int32")
    return z.astype("float32"), churn


def dense_block(x, units, rate, name):
    x = layers.Dense(units, kernel_initializer=INIT, bias_initializer="zeros", name=name)(x)
    x = layers.LeakyReLU(negative_slope=0.1)(x)
    return layers.Dropout(rate)(x) if rate else x


INIT = keras.initializers.Constant(0.1)


def build_network(n_in, widths=(64, 32), rate=0.0):
    inp = keras.Input((n_in,), name="customer")
    x = inp
    for i, w in enumerate(widths):
        x = dense_block(x, w, rate, f"block{i}")
    out = layers.Dense(1, activation="sigmoid", kernel_initializer=INIT, name="p_churn")(x)
    return keras.Model(inp, out)


def top_decile_lift(y, p):
    k = len(y) // 10
    idx = np.argsort(-p)[:k]
    return y[idx].mean() / y.mean()


def run(args):
    keras.utils.set_random_seed(args.seed)
    x, y = customers(args.n, args.seed)
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.25, random_state=1, stratify=y)
    scaler = StandardScaler().fit(x_tr)
    x_tr, x_te = scaler.transform(x_tr), scaler.transform(x_te)

    ref = LogisticRegression(max_iter=500).fit(x_tr, y_tr)
    print(f"logistic reference AUC {roc_auc_score(y_te, ref.predict_proba(x_te)[:, 1]):.3f}")

    model = build_network(x_tr.shape[1])
    model.compile(
        optimizer=keras.optimizers.Adam(args.lr),
        loss="binary_crossentropy",
        metrics=[keras.metrics.AUC(name="auc"), "accuracy"],
    )
    model.fit(x_tr, y_tr, epochs=args.epochs, batch_size=args.batch, validation_split=0.15, verbose=2)

    p = model.predict(x_te, batch_size=512, verbose=0).ravel()
    print(f"held-out AUC {roc_auc_score(y_te, p):.3f}  accuracy {np.mean((p > 0.5) == y_te):.3f}  "
          f"base rate {max(y_te.mean(), 1 - y_te.mean()):.3f}  lift@10% {top_decile_lift(y_te, p):.2f}")
    w = model.get_layer("block0").get_weights()[0]
    strength = np.abs(w).mean(1)
    for name, v in sorted(zip(FIELDS, strength), key=lambda t: -t[1]):
        print(f"   {name:14s} {v:.3f}")


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--n", type=int, default=6000)
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--lr", type=float, default=3e-3)
    ap.add_argument("--seed", type=int, default=4)
    run(ap.parse_args())
