"""Is the digit 5 or more? Small net against logistic regression on the same folds,
the two sets of answers compared with McNemar's test written out by hand."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import math
import keras
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split


def make(hidden, rate):
    """A new model with new weights and a new optimizer for every fold."""
    stack = [keras.Input((64,))] + [keras.layers.Dense(h, activation="relu") for h in hidden]
    model = keras.Sequential(stack + [keras.layers.Dense(1, activation="sigmoid")])
    model.compile(keras.optimizers.Adam(rate), "binary_crossentropy", jit_compile=False)
    return model


def auc(score, y):
    """share of (positive, negative) pairs in the right order, ties count half"""
    pos, neg = score[y == 1], score[y == 0]
    diff = pos[:, None] - neg[None, :]
    return ((diff > 0).sum() + 0.5 * (diff == 0).sum()) / diff.size


def mcnemar(a_right, b_right):
    b, c = int(np.sum(a_right & ~b_right)), int(np.sum(~a_right & b_right))
    n, k = b + c, min(b, c)
    p = min(1.0, 2 * sum(math.comb(n, i) for i in range(k + 1)) / 2 ** n)
    return b, c, p


def main():
    keras.utils.set_random_seed(6)
    d = load_digits()
    x, digit = (d.data / 16).astype("float32"), d.target
    y = (digit >= 5).astype("int64")
    prob = {k: np.full(len(y), np.nan) for k in ("net", "linear")}
    fold_of = np.zeros(len(y), int)
    for f, (tr, te) in enumerate(StratifiedKFold(3, shuffle=True, random_state=6).split(x, digit)):
        fold_of[te] = f
        fit, val = train_test_split(tr, test_size=0.15, stratify=digit[tr], random_state=f)
        keras.backend.clear_session()
        model = make((48,), 1e-2)
        stop = keras.callbacks.EarlyStopping(monitor="val_loss", patience=4, restore_best_weights=True)
        h = model.fit(x[fit], y[fit], validation_data=(x[val], y[val]), epochs=20, batch_size=96,
                      shuffle=True, verbose=0, callbacks=[stop])
        prob["net"][te] = np.asarray(model(x[te], training=False))[:, 0]
        # no early stopping here, so the linear model may use the validation rows as well
        prob["linear"][te] = LogisticRegression(max_iter=500).fit(x[tr], y[tr]).predict_proba(x[te])[:, 1]
        hit = {k: ((v[te] > 0.5) == y[te]).mean() for k, v in prob.items()}
        print(f"fold {f} epochs {len(h.history['loss'])} accuracy net {hit['net']:.3f} linear {hit['linear']:.3f}")
    right = {k: (p > 0.5) == y for k, p in prob.items()}
    for k, p in prob.items():
        per = [auc(p[fold_of == f], y[fold_of == f]) for f in range(3)]
        print(f"{k:7s} accuracy {right[k].mean():.3f}  AUC {np.mean(per):.3f}")
    many_ink = (x.mean(1) > np.median(x.mean(1))).astype(float)      # a 0/1 rule: its AUC lives on ties
    const = np.full(len(y), y.mean())
    print(f"ink rule accuracy {(many_ink == y).mean():.3f}  AUC {auc(many_ink, y):.3f}; "
          f"constant accuracy {max(y.mean(), 1 - y.mean()):.3f} AUC {auc(const, y):.3f}")
    b, c, p = mcnemar(right["net"], right["linear"])
    print(f"only the net right {b}, only the linear model right {c}, p = {p:.2g}")
    same = np.mean((prob["net"] > 0.5) == (prob["linear"] > 0.5))
    print(f"they agree on {same:.3f} of the digits; accuracy by digit (net, linear):")
    print("  " + "  ".join(f"{k}: {right['net'][digit == k].mean():.2f}/{right['linear'][digit == k].mean():.2f}"
                           for k in range(10)))


if __name__ == "__main__":
    main()
