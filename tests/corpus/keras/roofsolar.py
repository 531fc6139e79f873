"""Which roofs carry solar panels?  Tile classifier on aerial reflectance tiles."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import logging
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import keras
import numpy as np
from keras import layers

logger = logging.getLogger("roofsolar")


@dataclass
class Config:
    tile: int = 28
    n_tiles: int = 900
    batch_size: int = 32
    epochs: int = 7
    lr: float = 1.5e-3
    seed: int = 14
    work: Path = field(default_factory=lambda: Path(tempfile.mkdtemp()))


def render(rng, size, panels):
    tile = np.empty((size, size, 3))
    tile[:] = rng.uniform(0.25, 0.55, 3)
    tile += rng.normal(0, 0.05, tile.shape)
    y0, x0 = rng.integers(2, 8, 2)
    h, w = rng.integers(12, 19, 2)
    roof = rng.uniform(0.35, 0.75) * np.array([1.0, rng.uniform(0.7, 1.0), rng.uniform(0.6, 0.9)])
    tile[y0:y0 + h, x0:x0 + w] = roof + rng.normal(0, 0.04, (h, w, 3))
    if panels:
        ph, pw = rng.integers(5, 9, 2)
        py, px = y0 + rng.integers(0, h - ph), x0 + rng.integers(0, w - pw)
        patch = np.array([0.12, 0.15, 0.28]) + rng.normal(0, 0.02, (ph, pw, 3))
        patch[::3] += 0.15
        patch[:, ::3] += 0.15
        tile[py:py + ph, px:px + pw] = patch
    elif rng.random() < 0.5:
        ph, pw = rng.integers(4, 8, 2)
        py, px = y0 + rng.integers(0, h - ph), x0 + rng.integers(0, w - pw)
        tile[py:py + ph, px:px + pw] *= 0.4
    return np.clip(tile, 0.0, 0.98)


def export_tiles(cfg):
    rng = np.random.default_rng(cfg.seed)
    labels = {}
    for i in range(cfg.n_tiles):
        name = f"tile_{i:05d}"
        labels[name] = int(rng.random() < 0.5)
        np.save(cfg.work / f"{name}.npy", render(rng, cfg.tile, labels[name]).astype("float32"))
    return labels


class TileGenerator(keras.utils.PyDataset):
    """Reads tiles from disk batch by batch."""

    def __init__(self, names, labels, folder, batch_size=32, dim=(28, 28), n_channels=3,
                 shuffle=True, flip=False, seed=0, **kwargs):
        super().__init__(**kwargs)
        self.names = list(names)
        self.labels = labels
        self.folder = Path(folder)
        self.batch_size = batch_size
        self.dim = dim
        self.n_channels = n_channels
        self.shuffle = shuffle
        self.flip = flip
        self.rng = np.random.default_rng(seed)
        self.on_epoch_end()

    def __len__(self):
        return int(np.ceil(len(self.names) / self.batch_size))

    def on_epoch_end(self):
        self.indexes = np.arange(len(self.names))
        if self.shuffle:
            self.rng.shuffle(self.indexes)

    def __getitem__(self, index):
        chosen = self.indexes[index * self.batch_size:(index + 1) * self.batch_size]
        return self._load([self.names[k] for k in chosen])

    def _load(self, batch):
        X = np.empty((len(batch), *self.dim, self.n_channels), dtype=np.uint8)
        y = np.empty(len(batch), dtype=int)
        for i, name in enumerate(batch):
            tile = np.load(self.folder / f"{name}.npy")
            if self.flip and self.rng.random() < 0.5:
                tile = tile[:, ::-1]
            X[i] = tile
            y[i] = self.labels[name]
        return X, y


def build(cfg):
    return keras.Sequential([
        keras.Input((cfg.tile, cfg.tile, 3)),
        layers.Conv2D(24, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(48, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(64, 3, activation="relu"),
        layers.GlobalMaxPooling2D(),
        layers.Dense(32, activation="relu"),
        layers.Dense(1, activation="sigmoid"),
    ])


def main():
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    cfg = Config()
    keras.utils.set_random_seed(cfg.seed)
    labels = export_tiles(cfg)
    names = sorted(labels)
    cut = int(0.8 * len(names))
    common = dict(labels=labels, folder=cfg.work, batch_size=cfg.batch_size, dim=(cfg.tile, cfg.tile))
    train_gen = TileGenerator(names[:cut], flip=True, seed=cfg.seed, **common)
    val_gen = TileGenerator(names[cut:], shuffle=False, **common)

    model = build(cfg)
    model.compile(optimizer=keras.optimizers.Adam(cfg.lr), loss="binary_crossentropy",
                  metrics=["accuracy", keras.metrics.AUC(name="auc")])
    best = cfg.work / "best.keras"
    model.fit(train_gen, validation_data=val_gen, epochs=cfg.epochs, verbose=2,
              callbacks=[keras.callbacks.ModelCheckpoint(best, monitor="val_loss", save_best_only=True)])

    model = keras.models.load_model(best)
    scores = model.evaluate(val_gen, verbose=0, return_dict=True)
    logger.info("held-out: %s", {k: round(float(v), 3) for k, v in scores.items()})


if __name__ == "__main__":
    main()
