import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tf_keras as keras
from sklearn.model_selection import StratifiedKFold
from tf_keras import layers

CONFIG = {
    "model": {"filters": [16, 32], "dense": 64, "dropout": 0.25},
    "training": {"optimizer": "adam", "batch_size": 32, "epochs": 8},
    "folds": 2,
    "seed": 13,
}
KINDS = ["lobed", "needle", "oval", "heart", "serrated"]
SIZE = 24


def draw_leaf(kind, rng):
    yy, xx = np.mgrid[-1:1:SIZE * 1j, -1:1:SIZE * 1j]
    a = rng.uniform(0, 2 * np.pi)
    x = xx * np.cos(a) - yy * np.sin(a) + rng.normal(0, 0.08)
    y = xx * np.sin(a) + yy * np.cos(a) + rng.normal(0, 0.08)
    r, phi = np.hypot(x, y), np.arctan2(y, x)
    s = rng.uniform(0.6, 0.85)
    if kind == 0:
        inside = r < s * (0.7 + 0.3 * np.cos(5 * phi))
    elif kind == 1:
        inside = (np.abs(y) < 0.13) & (np.abs(x) < s)
    elif kind == 2:
        inside = (x / s) ** 2 + (y / (0.55 * s)) ** 2 < 1
    elif kind == 3:
        inside = r < s * (0.45 + 0.5 * np.abs(phi) / np.pi)
    else:
        inside = r < s * (0.75 + 0.18 * np.sign(np.sin(12 * phi)))
    shade = rng.uniform(0.5, 1.0)
    return np.clip(inside * shade + rng.normal(0, 0.12, r.shape), 0, 1)


def herbarium(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(KINDS), n)
    X = np.stack([draw_leaf(k, rng) for k in y]).astype("float32")[..., None]
    return X, y.astype("int32")


def build(cfg):
    model = keras.Sequential([keras.Input((SIZE, SIZE, 1))])
    for f in cfg["filters"]:
        model.add(layers.Conv2D(f, 3, activation="relu", padding="same"))
        model.add(layers.MaxPooling2D(2))
    model.add(layers.Dropout(cfg["dropout"]))
    model.add(layers.Flatten())
    model.add(layers.Dense(cfg["dense"], activation="relu"))
    model.add(layers.Dropout(cfg["dropout"]))
    model.add(layers.Dense(len(KINDS), activation="softmax"))
    return model


def run_fold(X, y, tr, va, cfg):
    model = build(cfg["model"])
    t = cfg["training"]
    model.compile(optimizer=t["optimizer"], loss="sparse_categorical_crossentropy",
                  metrics=["accuracy"])
    hist = model.fit(X[tr], y[tr], validation_data=(X[va], y[va]), batch_size=t["batch_size"],
                     epochs=t["epochs"], verbose=2)
    return hist.history["val_loss"][-1], hist.history["val_accuracy"][-1]


keras.utils.set_random_seed(CONFIG["seed"])
X, y = herbarium(1400, CONFIG["seed"])
folds = StratifiedKFold(CONFIG["folds"], shuffle=True, random_state=CONFIG["seed"])
results = np.array([run_fold(X, y, tr, va, CONFIG) for tr, va in folds.split(X, y)])
for i, (loss, acc) in enumerate(results):
    print(f"fold {i}: loss {loss:.3f} accuracy {acc:.3f}")
print(f"mean loss {results[:, 0].mean():.3f}  (ln k = {np.log(len(KINDS)):.3f})")
print(f"mean accuracy {results[:, 1].mean():.3f}  (largest class {np.bincount(y).max() / len(y):.3f})")
