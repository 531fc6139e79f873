import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold


def make_net(adapt_on):
    scale = layers.Normalization()
    scale.adapt(adapt_on)
    net = keras.Sequential([
        keras.Input((adapt_on.shape[1],)),
        scale,
        layers.GaussianNoise(0.3),
        layers.Dense(256, activation="relu", kernel_regularizer=keras.regularizers.L2(1e-4)),
        layers.Dropout(0.6),
        layers.Dense(128, activation="relu"),
        layers.Dropout(0.6),
        layers.Dense(1, activation="sigmoid"),
    ])
    net.compile(optimizer=keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True),
                loss=keras.losses.BinaryCrossentropy(label_smoothing=0.1),
                metrics=["accuracy"])
    return net


def main():
    x, y = load_breast_cancer(return_X_y=True)
    x = x.astype("float32")
    print(f"{x.shape[0]} patients, {x.shape[1]} measurements")

    folds = StratifiedKFold(3, shuffle=True, random_state=3)
    scores, gaps = [], []
    for k, (tr, te) in enumerate(folds.split(x, y)):
        keras.utils.set_random_seed(50 + k)
        net = make_net(x[tr])
        hist = net.fit(x[tr], y[tr], epochs=15, batch_size=32, validation_data=(x[te], y[te]), verbose=0)
        h = hist.history
        gaps.append(h["loss"][-1] - h["val_loss"][-1])
        prob = net.predict(x[te], verbose=0)[:, 0]
        scores.append(np.mean((prob > 0.5) == y[te]))
        print(f"fold {k}: train loss {h['loss'][-1]:.3f}  held-out loss {h['val_loss'][-1]:.3f}  accuracy {scores[-1]:.3f}")
        keras.backend.clear_session()
    print(f"mean accuracy {np.mean(scores):.3f}  majority {max(y.mean(), 1 - y.mean()):.3f}  loss gap {np.mean(gaps):.3f}")


if __name__ == "__main__":
    main()
