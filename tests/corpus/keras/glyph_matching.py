"""Glyph matching for new crops against a labelled gallery: semi-hard triplets in train_step,
on top of a convolution bank that is drawn once and left as it is."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

CLASSES, PER_CLASS = 10, 8


class BalancedBatches(keras.utils.PyDataset):
    """Every batch holds eight crops of each class, jittered by up to one pixel."""

    def __init__(self, x, y, steps, seed):
        super().__init__()
        self.pools = [x[y == c] for c in range(CLASSES)]
        self.steps, self.rng = steps, np.random.default_rng(seed)

    def __len__(self):
        return self.steps

    def __getitem__(self, _):
        xs, ys = [], []
        for k, pool in enumerate(self.pools):
            for img in pool[self.rng.choice(len(pool), PER_CLASS, replace=False)]:
                dx, dy = self.rng.integers(-1, 2, 2)
                xs.append(np.roll(img, (dx, dy), axis=(0, 1)))
                ys.append(k)
        return np.stack(xs), np.array(ys, "int32")


class Matcher(keras.Model):
    def __init__(self, dim=24, margin=0.25):
        super().__init__()
        self.bank = layers.Conv2D(64, 3, padding="same", activation="relu",
                                  kernel_initializer="he_normal", trainable=False)
        self.body = keras.Sequential([
            layers.MaxPooling2D(2),
            layers.Conv2D(48, 3, padding="same", activation="relu"),
            layers.Flatten(),
            layers.Dense(96, activation="relu"),
            layers.Dense(dim),
            layers.UnitNormalization(),
        ])
        self.margin = margin
        self.loss_mean = keras.metrics.Mean(name="triplet")
        self.active = keras.metrics.Mean(name="active")

    @property
    def metrics(self):
        return [self.loss_mean, self.active]

    def call(self, x, training=None):
        return self.body(self.bank(x), training=training)

    def mine(self, z, y):
        d = ops.maximum(2.0 - 2.0 * ops.matmul(z, ops.transpose(z)), 0.0)
        same = ops.equal(y[:, None], y[None, :])
        pos = ops.logical_and(same, ops.logical_not(ops.cast(ops.eye(ops.shape(d)[0]), "bool")))
        ap, an = d[:, :, None], d[:, None, :]
        usable = ops.logical_and(pos[:, :, None], ops.logical_not(same)[:, None, :])
        violation = ap - an + self.margin
        semi = ops.logical_and(usable, ops.logical_and(an > ap, violation > 0))
        weight = ops.cast(semi, z.dtype)
        n = ops.sum(weight)
        return ops.sum(weight * violation) / ops.maximum(n, 1.0), n / ops.sum(ops.cast(usable, z.dtype))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss, active = self.mine(self(x, training=True), y)
        weights = self.trainable_weights
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        self.loss_mean.update_state(loss)
        self.active.update_state(active)
        return {m.name: m.result() for m in self.metrics}


def retrieval(gallery, gallery_y, query, query_y):
    """Recall at one and precision among the ten nearest gallery crops."""
    near = np.argsort(-query @ gallery.T, axis=1)[:, :10]
    hit = gallery_y[near] == query_y[:, None]
    return hit[:, 0].mean(), hit.mean()


def main():
    keras.utils.set_random_seed(77)
    digits = load_digits()
    x = (digits.images / 16.0).astype("float32")[..., None]
    y = digits.target
    x_gal, x_new, y_gal, y_new = train_test_split(x, y, test_size=0.4, stratify=y, random_state=77)
    model = Matcher()
    model.compile(optimizer=keras.optimizers.RMSprop(5e-4))
    batches = BalancedBatches(x_gal, y_gal, steps=25, seed=1)
    hist = model.fit(batches, epochs=10, verbose=0)
    for e in range(1, 10, 2):
        print(f"epoch {e + 1:2d}  triplet {hist.history['triplet'][e]:.4f}  active {hist.history['active'][e]:.4f}")
    print("trainable tensors", len(model.trainable_weights), "of", len(model.weights))

    # query crops are as badly centred as the ones in the field
    rng = np.random.default_rng(2)
    queries = np.stack([np.roll(i, rng.integers(-1, 2, 2), axis=(0, 1)) for i in x_new])
    embed = lambda a: model.predict(a, batch_size=128, verbose=0)
    unit = lambda a: a.reshape(len(a), -1) / np.linalg.norm(a.reshape(len(a), -1), axis=1, keepdims=True)
    r1, p10 = retrieval(embed(x_gal), y_gal, embed(queries), y_new)
    b1, b10 = retrieval(unit(x_gal), y_gal, unit(queries), y_new)
    print(f"new crops: recall@1 {r1:.4f} precision@10 {p10:.4f}   raw pixels {b1:.4f} / {b10:.4f}")


if __name__ == "__main__":
    main()
