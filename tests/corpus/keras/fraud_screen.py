import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import argparse

import numpy as np
import keras
from keras import layers
from sklearn.metrics import average_precision_score, recall_score, roc_auc_score


def transactions(n, rng):
    fraud = (rng.random(n) < 0.03).astype("float32")
    shift = fraud[:, None]
    base = rng.normal(size=(n, 10))
    base[:, :4] += shift * np.array([1.4, -1.2, 1.0, 0.8])
    base[:, 4] = base[:, 4] * (1 + 1.5 * fraud)
    return base.astype("float32"), fraud[:, None]


def parse_args():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rows", type=int, default=6000)
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--seed", type=int, default=77)
    return ap.parse_args()


def build(n_features):
    return keras.Sequential([
        layers.Input((n_features,)),
        layers.Dense(32, activation="relu"),
        layers.Dropout(0.2),
        layers.Dense(16, activation="relu"),
        layers.Dense(1),
    ])


def main():
    args = parse_args()
    keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    x_tr, y_tr = transactions(args.rows, rng)
    x_va, y_va = transactions(args.rows // 3, rng)
    x_te, y_te = transactions(args.rows // 2, rng)

    pos = float(y_tr.mean())
    weights = {0: 0.5 / (1 - pos), 1: 0.5 / pos}
    model = build(x_tr.shape[1])
    model.compile(
        optimizer=keras.optimizers.Adam(args.lr),
        loss=keras.losses.BinaryCrossentropy(from_logits=True),
        metrics=[keras.metrics.BinaryAccuracy(threshold=0.0, name="acc"),
                 keras.metrics.AUC(from_logits=True, name="auc")],
    )
    model.fit(x_tr, y_tr, validation_data=(x_va, y_va), epochs=args.epochs, batch_size=64,
              class_weight=weights, verbose=2,
              callbacks=[keras.callbacks.EarlyStopping("val_auc", mode="max", patience=4,
                                                       restore_best_weights=True)])
    logit = model.predict(x_te, verbose=0)
    flagged = logit > 0.0
    print("fraud rate", round(float(y_te.mean()), 4))
    print("accuracy", round(float((flagged == (y_te > 0)).mean()), 4),
          "balanced recall", round(recall_score(y_te, flagged, average="macro"), 4))
    print("roc auc", round(roc_auc_score(y_te, logit), 4),
          "average precision", round(average_precision_score(y_te, logit), 4))


if __name__ == "__main__":
    main()
