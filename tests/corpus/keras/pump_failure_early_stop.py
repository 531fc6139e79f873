"""Pump failure within a week (about 5 % of rows), row weights, plain EarlyStopping.

The net starts at the base rate (output bias) so it says "no failure" everywhere at first.
"""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
from keras import layers, regularizers
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


def pumps(n=12000, seed=9):
    rng = np.random.default_rng(seed)
    age, temp, vib = rng.gamma(3, 2, n), rng.normal(60, 8, n), rng.lognormal(0, 0.4, n)
    flow, pressure = rng.normal(100, 12, n), rng.normal(5, 0.7, n)
    seal = rng.integers(0, 3, n)
    z = (-6.3 + 0.22 * age + 1.6 * (vib - 1) + 0.10 * np.maximum(temp - 62, 0)
         + 1.4 * np.abs(flow - 100) / 12 + 0.9 * (seal == 2) * (pressure > 5.2))
    y = (rng.random(n) < 1 / (1 + np.exp(-1.5 * z))).astype("float32")
    x = np.c_[age, temp, vib, flow, pressure, np.eye(3)[seal]]
    return x.astype("float32"), y


class Recall(keras.callbacks.Callback):
    """Share of rows flagged at 0.5 after each of the first epochs and then at times."""

    def __init__(self, x, y):
        super().__init__()
        self.x, self.y = x, y

    def on_epoch_end(self, epoch, logs=None):
        if epoch < 3 or epoch % 10 == 9:
            p = self.model.predict(self.x, verbose=0, batch_size=2000)[:, 0] > 0.5
            print(f"epoch {epoch + 1:2d} loss {logs['loss']:.4f} val {logs['val_loss']:.4f} "
                  f"flagged {p.mean():.3f} recall {p[self.y == 1].mean():.3f}")


def main():
    keras.utils.set_random_seed(9)
    x, y = pumps()
    x_dev, x_te, y_dev, y_te = train_test_split(x, y, test_size=0.25, stratify=y, random_state=0)
    x_tr, x_va, y_tr, y_va = train_test_split(x_dev, y_dev, test_size=0.2, stratify=y_dev, random_state=0)
    scaler = StandardScaler().fit(x_tr)
    x_tr, x_va, x_te = (scaler.transform(v) for v in (x_tr, x_va, x_te))
    rate = float(y_tr.mean())
    print(f"positives: train {rate:.3f} val {y_va.mean():.3f} test {y_te.mean():.3f}")

    model = keras.Sequential([
        keras.Input((x.shape[1],)),
        layers.Dense(32, activation="swish", kernel_regularizer=regularizers.l2(1e-4)),
        layers.Dense(16, activation="swish", kernel_regularizer=regularizers.l2(1e-4)),
        layers.Dense(1, activation="sigmoid",
                     bias_initializer=keras.initializers.Constant(np.log(rate / (1 - rate)))),
    ])
    model.compile(keras.optimizers.Adam(1e-3), loss="binary_crossentropy")
    w_tr, w_va = np.where(y_tr == 1, 3.0, 1.0), np.where(y_va == 1, 3.0, 1.0)
    # small weight decay and a small net: the loss flattens out, so the last epoch is as good as the best
    stop = keras.callbacks.EarlyStopping(monitor="val_loss", patience=4, min_delta=5e-4)
    hist = model.fit(x_tr, y_tr, sample_weight=w_tr, validation_data=(x_va, y_va, w_va), epochs=60, batch_size=128, verbose=0,
                     callbacks=[stop, Recall(x_va, y_va)])
    v = hist.history["val_loss"]
    print(f"stopped after {len(v)} epochs; val loss best {min(v):.4f} last {v[-1]:.4f}")

    p = model.predict(x_te, verbose=0, batch_size=2000)[:, 0]
    print(f"test AUC {roc_auc_score(y_te, p):.4f}  average precision {average_precision_score(y_te, p):.4f} "
          f"(prevalence {y_te.mean():.4f})")


if __name__ == "__main__":
    main()
