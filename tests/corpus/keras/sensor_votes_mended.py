"""Flag arrhythmic beats in a wrist sensor; every window was judged by three readers."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tempfile
from dataclasses import dataclass

import numpy as np
import keras
from keras import layers
from sklearn.metrics import balanced_accuracy_score, recall_score


@dataclass
class Cfg:
    n_train: int = 1400
    n_val: int = 300
    n_test: int = 500
    steps: int = 80
    readers: int = 3
    miss: float = 0.3
    lr: float = 2e-3
    epochs: int = 8
    seed: int = 17


def windows(n, cfg, rng):
    t = np.arange(cfg.steps)
    truth = rng.random(n) < 0.5
    x = np.empty((n, cfg.steps), "float32")
    for i in range(n):
        period = rng.uniform(11, 15)
        beats = np.arange(rng.uniform(0, period), cfg.steps, period)
        if truth[i]:
            k = rng.integers(1, len(beats) - 1)
            beats[k] += rng.choice([-1, 1]) * rng.uniform(0.25, 0.4) * period
        x[i] = sum(np.exp(-0.5 * ((t - b) / 1.2) ** 2) for b in beats)
    x += rng.normal(0, 0.1, x.shape)
    return x[..., None], truth


def judged(truth, cfg, rng):
    """One column per reader: a reader overlooks an event now and then, and rarely sees one too many."""
    u = rng.random((len(truth), cfg.readers))
    return np.where(truth[:, None], u > cfg.miss, u < 0.03)


def reader_target(marks):
    return marks.mean(axis=1).astype("float32")


def build(cfg):
    m = keras.Sequential([
        keras.Input((cfg.steps, 1)),
        layers.Conv1D(24, 7, padding="same", activation="relu"),
        layers.Conv1D(32, 15, padding="same", activation="relu"),
        layers.Conv1D(32, 15, padding="same", activation="relu"),
        layers.GlobalMaxPooling1D(),
        layers.Dense(32, activation="relu"),
        layers.Dense(1, activation="sigmoid"),
    ])
    m.compile(keras.optimizers.Adam(cfg.lr), loss="binary_crossentropy")
    return m


def main():
    cfg = Cfg()
    keras.utils.set_random_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    x_tr, t_tr = windows(cfg.n_train, cfg, rng)
    x_va, t_va = windows(cfg.n_val, cfg, rng)
    x_te, t_te = windows(cfg.n_test, cfg, rng)
    y_tr = reader_target(judged(t_tr, cfg, rng))
    y_va = reader_target(judged(t_va, cfg, rng))

    model = build(cfg)
    path = os.path.join(tempfile.mkdtemp(), "best.keras")
    saver = keras.callbacks.ModelCheckpoint(path, monitor="val_loss", save_best_only=True)
    hist = model.fit(x_tr, y_tr, validation_data=(x_va, y_va), epochs=cfg.epochs,
                     batch_size=32, callbacks=[saver], verbose=2)

    best = keras.models.load_model(path)
    pred = best.predict(x_te, verbose=0)[:, 0] > 0.5
    print(f"best val loss {min(hist.history['val_loss']):.4f}")
    print(f"against adjudicated truth: accuracy {np.mean(pred == t_te):.4f}  "
          f"balanced {balanced_accuracy_score(t_te, pred):.4f}  recall {recall_score(t_te, pred):.4f}  "
          f"(share of events {t_te.mean():.2f})")


if __name__ == "__main__":
    main()
