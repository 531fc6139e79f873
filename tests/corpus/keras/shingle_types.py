"""Roof survey: sort shingles into six makes by measured features. Course project, group 4."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import keras
from keras import layers, regularizers
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

N_MAKES = 6
keras.utils.set_random_seed(44)


def load_survey():
    x, y = make_classification(n_samples=1800, n_features=18, n_informative=10, n_redundant=4, n_classes=N_MAKES,
                               n_clusters_per_class=1, class_sep=1.6, flip_y=0.01, random_state=44)
    return x.astype("float32"), y


def mlp(sizes, n_in, drop=0.1):
    model = keras.Sequential(name="shingles")
    model.add(keras.Input((n_in,)))
    for i, width in enumerate(sizes):
        last = i == len(sizes) - 1
        model.add(layers.Dense(width, activation=None if last else "relu",
                               kernel_regularizer=None if last else regularizers.l2(1e-5)))
        if not last:
            model.add(layers.Dropout(drop))
    return model


def train_fold(x, y, train, valid):
    scaler = StandardScaler().fit(x[train])
    model = mlp([64, 32, N_MAKES], x.shape[1])
    model.compile(optimizer=keras.optimizers.Adam(2e-3),
                  loss="sparse_categorical_crossentropy",
                  metrics=["accuracy"])
    stop = keras.callbacks.EarlyStopping(monitor="val_loss", patience=6, restore_best_weights=True)
    history = model.fit(scaler.transform(x[train]), y[train], batch_size=64, epochs=10, verbose=0,
                        validation_data=(scaler.transform(x[valid]), y[valid]), callbacks=[stop])
    out = model.predict(scaler.transform(x[valid]), verbose=0)
    return history.history["loss"][-1], np.mean(out.argmax(1) == y[valid])


if __name__ == "__main__":
    x, y = load_survey()
    scores = []
    for k, (train, valid) in enumerate(StratifiedKFold(3, shuffle=True, random_state=1).split(x, y)):
        loss, acc = train_fold(x, y, train, valid)
        scores.append(acc)
        print(f"fold {k}: last train loss {loss:.3f}  accuracy {acc:.3f}")
    print(f"mean accuracy {np.mean(scores):.3f}")
