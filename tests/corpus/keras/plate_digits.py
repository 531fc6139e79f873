import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import math
from dataclasses import dataclass
import numpy as np
import keras
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import train_test_split


@dataclass
class Config:
    shift: float = 0.08
    rotate: float = math.radians(30)
    contrast: float = 0.2
    filters: int = 16
    lr: float = 2e-3
    epochs: int = 16
    batch: int = 64
    seed: int = 5


class DigitReader:
    def __init__(self, cfg):
        self.cfg = cfg
        self.augment = keras.Sequential([
            layers.RandomTranslation(cfg.shift, cfg.shift, fill_mode="constant"),
            layers.RandomRotation(cfg.rotate, fill_mode="constant"),
            layers.RandomContrast(cfg.contrast, value_range=(0, 1)),
        ], name="augment")
        self.model = self._network()

    def _network(self):
        f = self.cfg.filters
        inp = keras.Input((16, 16, 1))
        h = self.augment(inp)
        for k in (f, 2 * f):
            h = layers.Conv2D(k, 3, padding="same", use_bias=False)(h)
            h = layers.BatchNormalization(momentum=0.9)(h)
            h = layers.ReLU()(h)
            h = layers.MaxPooling2D()(h)
        h = layers.Flatten()(h)
        h = layers.Dense(64, activation="relu")(h)
        return keras.Model(inp, layers.Dense(10)(h))

    def fit(self, X, y, X_val, y_val):
        cfg = self.cfg
        steps = int(np.ceil(len(X) / cfg.batch))
        rate = keras.optimizers.schedules.CosineDecay(cfg.lr, steps * cfg.epochs)
        self.model.compile(
            optimizer=keras.optimizers.Adam(rate),
            loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"])
        ds = tf.data.Dataset.from_tensor_slices((X, y)).shuffle(len(X), seed=cfg.seed)
        ds = ds.batch(cfg.batch).prefetch(2)
        self.model.fit(ds, validation_data=(X_val, y_val), epochs=cfg.epochs, verbose=2)
        return self

    def read(self, X):
        return self.model.predict(X, verbose=0).argmax(1)


def load():
    d = load_digits()
    img = (d.images / 16.0).astype("float32")[..., None]
    img = tf.image.resize(img, (16, 16)).numpy()
    rng = np.random.default_rng(0)
    img = np.clip(img + rng.normal(0, 0.15, img.shape), 0, 1).astype("float32")
    return img, d.target.astype("int32")


if __name__ == "__main__":
    cfg = Config()
    keras.utils.set_random_seed(cfg.seed)
    X, y = load()
    X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.4, stratify=y, random_state=cfg.seed)
    X_va, X_te, y_va, y_te = train_test_split(X_te, y_te, test_size=0.5, random_state=cfg.seed)
    reader = DigitReader(cfg).fit(X_tr, y_tr, X_va, y_va)
    pred = reader.read(X_te)
    print(confusion_matrix(y_te, pred))
    print(f"test accuracy {np.mean(pred == y_te):.3f}")
    plates = np.arange(len(y_te) // 6 * 6).reshape(-1, 6)
    whole = (pred[plates] == y_te[plates]).all(1).mean()
    print(f"plates of six digits read completely {whole:.3f}")
