"""Breast cancer diagnosis with a small MLP."""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf
from tensorflow.keras.callbacks import EarlyStopping, ReduceLROnPlateau
from tensorflow.keras.layers import Dense, Dropout
from tensorflow.keras.models import Sequential
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


def get_data(seed):
    X, y = load_breast_cancer(return_X_y=True)
    y = y.astype("float32")
    X_tr, X_te, y_tr, y_te = train_test_split(
        X, y, test_size=0.3, random_state=seed, stratify=y)
    sc = StandardScaler()
    X_tr = sc.fit_transform(X_tr)
    X_te = sc.transform(X_te)
    return X_tr, X_te, y_tr, y_te


def build(n_features, hidden, dropout):
    net = Sequential()
    net.add(tf.keras.Input(shape=(n_features,)))
    net.add(Dense(hidden, activation="relu"))
    net.add(Dropout(dropout))
    net.add(Dense(hidden // 2, activation="relu"))
    net.add(Dense(1, activation="softmax"))
    return net


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--hidden", type=int, default=32)
    ap.add_argument("--dropout", type=float, default=0.3)
    ap.add_argument("--epochs", type=int, default=30)
    ap.add_argument("--seed", type=int, default=11)
    args = ap.parse_args()

    tf.keras.utils.set_random_seed(args.seed)
    X_tr, X_te, y_tr, y_te = get_data(args.seed)

    net = build(X_tr.shape[1], args.hidden, args.dropout)
    net.compile(optimizer=tf.keras.optimizers.Adam(1e-3),
                loss="binary_crossentropy",
                metrics=["accuracy"])
    cbs = [
        EarlyStopping(monitor="val_loss", patience=15, restore_best_weights=True),
        ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=5),
    ]
    net.fit(X_tr, y_tr, validation_split=0.15, epochs=args.epochs,
            batch_size=16, callbacks=cbs, verbose=2)

    prob = net.predict(X_te, verbose=0).ravel()
    y_hat = (prob > 0.5).astype("int32")
    print("accuracy :", (y_hat == y_te).mean())
    print("confusion:\n", confusion_matrix(y_te, y_hat))


if __name__ == "__main__":
    main()
