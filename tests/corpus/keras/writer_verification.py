import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
from keras import layers, ops
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split


class PairFeed(keras.utils.PyDataset):
    """Half of each batch are pairs of one class, half of two classes."""

    def __init__(self, images, labels, batch=64, batches=45, seed=0):
        super().__init__()
        self.images = images
        self.labels = labels
        self.batch = batch
        self.batches = batches
        self.rng = np.random.default_rng(seed)
        self.by_class = {c: np.flatnonzero(labels == c) for c in np.unique(labels)}

    def __len__(self):
        return self.batches

    def __getitem__(self, idx):
        left = self.rng.integers(0, len(self.images), self.batch)
        same = self.rng.random(self.batch) < 0.5
        right = np.empty_like(left)
        for i, a in enumerate(left):
            cls = self.labels[a]
            if same[i]:
                right[i] = self.rng.choice(self.by_class[cls])
            else:
                other = self.rng.choice([c for c in self.by_class if c != cls])
                right[i] = self.rng.choice(self.by_class[other])
        return (self.images[left], self.images[right]), same.astype("float32")


class EuclideanDistance(layers.Layer):
    def call(self, pair):
        a, b = pair
        squared = ops.sum(ops.square(a - b), axis=-1, keepdims=True)
        return ops.sqrt(squared)


def contrastive(margin):
    def loss(y_true, d):
        pull = y_true * d
        push = (1.0 - y_true) * ops.maximum(margin - d, 0.0)
        return ops.mean(pull + push, axis=-1)

    return loss


def embedder(dim=16):
    return keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(16, 3, activation="relu"),
            layers.Conv2D(32, 3, activation="relu"),
            layers.Flatten(),
            layers.Dense(dim),
        ],
        name="embedder",
    )


def siamese(emb):
    a = keras.Input((8, 8, 1))
    b = keras.Input((8, 8, 1))
    return keras.Model([a, b], EuclideanDistance()([emb(a), emb(b)]))


def main():
    keras.utils.set_random_seed(3)
    d = load_digits()
    x = (d.images / 16.0).astype("float32")[..., None]
    x_tr, x_te, y_tr, y_te = train_test_split(x, d.target, test_size=0.3, stratify=d.target, random_state=2)
    feed = PairFeed(x_tr, y_tr)

    model = siamese(embedder())
    model.compile(keras.optimizers.Adam(2e-3), loss=contrastive(margin=1.0))
    model.fit(feed, epochs=5, verbose=2)

    rng = np.random.default_rng(9)
    i, j = rng.integers(0, len(x_te), (2, 3000))
    i, j = i[i != j], j[i != j]
    dist = model.predict([x_te[i], x_te[j]], verbose=0)[:, 0]
    truth = y_te[i] == y_te[j]
    print("undefined distances:", int(np.isnan(dist).sum()), "of", len(dist))
    print("verification AUC:", round(roc_auc_score(truth, -np.nan_to_num(dist)), 3))


if __name__ == "__main__":
    main()
