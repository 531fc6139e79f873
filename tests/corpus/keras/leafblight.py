"""Leaf disease classifier with on-the-fly augmentation through a PyDataset."""
from __future__ import annotations

import os

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import math
import tempfile
from pathlib import Path

import keras
import numpy as np
from keras import layers

SIDE = 24
DISEASES = ("healthy", "rust_spots", "vein_yellowing", "edge_burn", "mildew")


def paint_leaf(kind: int, rng: np.random.Generator) -> np.ndarray:
    """One RGB crop in [0, 1]."""
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    leaf = np.zeros((SIDE, SIDE, 3))
    leaf[...] = np.array([0.2, 0.5, 0.15]) * rng.uniform(0.8, 1.2)
    if kind == 1:
        for _ in range(rng.integers(8, 14)):
            cy, cx = rng.uniform(0.05, 0.95, 2)
            leaf[(yy - cy) ** 2 + (xx - cx) ** 2 < 0.004] = [0.4, 0.38, 0.12]
    elif kind == 2:
        stripes = np.sin(xx * 20 + rng.uniform(0, 6)) > 0.6
        leaf[stripes] = [0.35, 0.52, 0.2]
    elif kind == 3:
        border = np.minimum.reduce([xx, yy, 1 - xx, 1 - yy]) < rng.uniform(0.08, 0.14)
        leaf[border] = [0.35, 0.4, 0.14]
    elif kind == 4:
        leaf += rng.uniform(0.0, 0.4, (SIDE, SIDE, 1)) * (rng.random((SIDE, SIDE, 1)) < 0.35)
    return np.clip(leaf + rng.normal(0, 0.15, leaf.shape), 0, 1)


def make_split(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    labels = rng.integers(0, len(DISEASES), count)
    return np.stack([paint_leaf(k, rng) for k in labels]).astype("float32"), labels.astype("int32")


class LeafSequence(keras.utils.PyDataset):
    """Serves batches; in training each image loses a random square and gets a brightness shift."""

    def __init__(self, images: np.ndarray, labels: np.ndarray, batch_size: int, augment: bool, seed: int = 0, **kwargs) -> None:
        super().__init__(**kwargs)
        self.images, self.labels = images, labels
        self.batch_size, self.augment = batch_size, augment
        self.rng = np.random.default_rng(seed)

    def __len__(self) -> int:
        return math.ceil(len(self.labels) / self.batch_size)

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        rows = slice(index * self.batch_size, (index + 1) * self.batch_size)
        batch = self.images[rows]
        if self.augment:
            self._cutout(batch, 12)
            batch += self.rng.uniform(-0.1, 0.1, (len(batch), 1, 1, 1)).astype("float32")
        return batch, self.labels[rows]

    def _cutout(self, batch: np.ndarray, size: int) -> None:
        for image in batch:
            top, left = self.rng.integers(0, SIDE - size + 1, 2)
            image[top : top + size, left : left + size] = 0.0


def build_model() -> keras.Model:
    return keras.Sequential(
        [
            keras.Input((SIDE, SIDE, 3)),
            layers.Conv2D(16, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.Flatten(),
            layers.Dense(48, activation="relu"),
            layers.Dense(len(DISEASES), activation="softmax"),
        ]
    )


class LeafTrainer:
    def __init__(self, workdir: Path, epochs: int = 20, batch_size: int = 32) -> None:
        self.workdir, self.epochs, self.batch_size = workdir, epochs, batch_size
        self.model = build_model()
        self.model.compile(
            optimizer=keras.optimizers.Adam(7e-4), loss="sparse_categorical_crossentropy", metrics=["accuracy"]
        )

    def fit(self, images: np.ndarray, labels: np.ndarray) -> None:
        train = LeafSequence(images, labels, self.batch_size, augment=True, seed=1)
        log = keras.callbacks.CSVLogger(str(self.workdir / "log.csv"))
        self.model.fit(train, epochs=self.epochs, callbacks=[log], verbose=2)

    def score(self, images: np.ndarray, labels: np.ndarray) -> float:
        test = LeafSequence(images, labels, self.batch_size, augment=False)
        return float(self.model.evaluate(test, verbose=0)[1])


def main() -> None:
    keras.utils.set_random_seed(17)
    rng = np.random.default_rng(17)
    train_images, train_labels = make_split(1000, rng)
    test_images, test_labels = make_split(300, rng)
    with tempfile.TemporaryDirectory() as folder:
        trainer = LeafTrainer(Path(folder))
        trainer.fit(train_images, train_labels)
        print(f"test accuracy {trainer.score(test_images, test_labels):.3f}")


if __name__ == "__main__":
    main()
