import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from transformers import TFViTForImageClassification, ViTConfig

SIDE, CLASSES = 32, 4


class LeafImages:
    """Discs, bars, rings and checks of leaf green over soil brown."""

    def __init__(self, n, seed):
        self.rng = np.random.default_rng(seed)
        self.labels = self.rng.integers(0, CLASSES, n).astype(np.int32)
        self.images = np.stack([self.draw(c) for c in self.labels]).astype(np.float32)

    def draw(self, c):
        yy, xx = np.mgrid[:SIDE, :SIDE]
        cy, cx = self.rng.uniform(12, 20, 2)
        r = self.rng.uniform(6, 10)
        d = np.hypot(yy - cy, xx - cx)
        if c == 0:
            m = d < r
        elif c == 1:
            m = np.abs(yy - cy) < r / 3
        elif c == 2:
            m = np.abs(d - r) < 1.8
        else:
            m = ((yy // 4 + xx // 4) % 2 == 0) & (d < r + 4)
        img = np.where(m[..., None], [0.2, 0.7, 0.2], [0.45, 0.3, 0.15])
        return img + self.rng.normal(0, 0.08, img.shape)

    def pixel_values(self):
        x = (self.images - 0.5) / 0.5
        return x.transpose(0, 3, 1, 2)

    def dataset(self, batch, shuffle):
        ds = tf.data.Dataset.from_tensor_slices((
            {"pixel_values": self.pixel_values()}, self.labels))
        if shuffle:
            ds = ds.shuffle(len(self.labels), seed=1)
        return ds.batch(batch)


def build():
    cfg = ViTConfig(image_size=SIDE, patch_size=8, num_channels=3, hidden_size=64,
                    num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
                    num_labels=CLASSES)
    model = TFViTForImageClassification(cfg)
    model.compile(
        optimizer=tf.keras.optimizers.Adam(1e-3),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(5)
    train = LeafImages(1500, seed=0)
    test = LeafImages(300, seed=1)
    print("images", train.images.shape, "labels", np.bincount(train.labels))
    model = build()
    model.fit(train.dataset(32, True), validation_data=test.dataset(64, False), epochs=8, verbose=2)
    _, acc = model.evaluate(test.dataset(64, False), verbose=0)
    print("test accuracy", round(acc, 3))
