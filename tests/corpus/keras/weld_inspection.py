"""Classify ultrasonic weld readings as ok / porosity / crack.

Cracks are rare (about 3 % of the readings) and are the ones the line must catch.
"""
from collections import Counter

import numpy as np
import keras
from keras import layers
from sklearn.metrics import average_precision_score, balanced_accuracy_score, recall_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

SEED = 21
LABELS = ("ok", "porosity", "crack")


def simulate(n, rng):
    """Echo features: amplitudes, time of flight, attenuation and some plant context."""
    y = rng.choice(3, size=n, p=[0.82, 0.15, 0.03])
    thickness = rng.normal(12, 1.5, n)
    temp = rng.normal(35, 6, n)
    operator = rng.integers(0, 4, n)
    amp = rng.gamma(4, 1.0, n) + 2.2 * (y == 1) + 1.4 * (y == 2)
    tof = 2 * thickness / 5.9 + rng.normal(0, .25, n) - .55 * (y == 2)
    att = 1.2 + .03 * (temp - 35) + rng.normal(0, .4, n) + .7 * (y == 1) - .2 * (y == 2)
    echo = rng.normal(0, 1, (n, 6))
    echo[:, 0] += 1.0 * (y == 2)
    echo[:, 1] += .9 * (y == 1)
    sign = rng.choice([-1.0, 1.0], n)
    echo[:, 2] += 2.0 * sign * (y == 2)          # split echo: both peaks move together
    echo[:, 3] += 2.0 * sign * (y == 2)
    x = np.column_stack([thickness, temp, amp, tof, att, echo, np.eye(4)[operator]])
    return x.astype("float32"), y


class InspectionModel:
    def __init__(self, n_features, hidden=(48, 24), lr=2e-3):
        inp = keras.Input((n_features,))
        h = inp
        for units in hidden:
            h = layers.Dense(units, kernel_initializer="he_normal")(h)
            h = layers.BatchNormalization()(h)
            h = layers.Activation("relu")(h)
            h = layers.Dropout(.15)(h)
        self.net = keras.Model(inp, layers.Dense(3, activation="softmax")(h))
        self.net.compile(optimizer=keras.optimizers.Adam(lr),
                         loss="sparse_categorical_crossentropy",
                         weighted_metrics=["accuracy"])
        self.scaler = StandardScaler()

    @staticmethod
    def weights(y):
        counts = Counter(y.tolist())
        n, k = len(y), len(counts)
        return {c: k * counts[c] / n for c in sorted(counts)}

    def fit(self, x, y, x_val, y_val, epochs=20):
        x = self.scaler.fit_transform(x)
        x_val = self.scaler.transform(x_val)
        w = self.weights(y)
        print("class weights", {LABELS[c]: round(v, 3) for c, v in w.items()})
        stop = keras.callbacks.EarlyStopping(monitor="val_loss", patience=8,
                                             restore_best_weights=True)
        sw_val = np.vectorize(w.get)(y_val)
        return self.net.fit(x, y, class_weight=w, batch_size=128, epochs=epochs,
                            validation_data=(x_val, y_val, sw_val),
                            callbacks=[stop], verbose=2)

    def proba(self, x):
        return self.net.predict(self.scaler.transform(x), verbose=0)


def main():
    keras.utils.set_random_seed(SEED)
    rng = np.random.default_rng(SEED)
    x, y = simulate(12000, rng)
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=.3, stratify=y, random_state=1)
    x_tr, x_va, y_tr, y_va = train_test_split(x_tr, y_tr, test_size=.15, stratify=y_tr,
                                              random_state=2)
    m = InspectionModel(x.shape[1])
    m.fit(x_tr, y_tr, x_va, y_va)

    p = m.proba(x_te)
    pred = p.argmax(1)
    rec = recall_score(y_te, pred, average=None)
    print("recall  " + "  ".join(f"{n} {r:.3f}" for n, r in zip(LABELS, rec)))
    print(f"crack average precision {average_precision_score(y_te == 2, p[:, 2]):.3f} "
          f"(prevalence {np.mean(y_te == 2):.3f})")
    print(f"test balanced accuracy {balanced_accuracy_score(y_te, pred):.3f}  "
          f"(constant guess {1 / 3:.3f})")


if __name__ == "__main__":
    main()
