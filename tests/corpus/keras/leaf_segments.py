import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
from keras import layers

CONFIG = {"size": 32, "train": 384, "val": 96, "batch": 16, "epochs": 7, "lr": 3e-3, "workers": 2}


def draw_scene(rng, size):
    yy, xx = np.mgrid[:size, :size]
    image = rng.normal(0.45, 0.12, (size, size))
    mask = np.zeros((size, size), "float32")
    for _ in range(rng.integers(1, 4)):
        cy, cx = rng.uniform(6, size - 6, 2)
        a, b = rng.uniform(3, 8, 2)
        th = rng.uniform(0, np.pi)
        u = (xx - cx) * np.cos(th) + (yy - cy) * np.sin(th)
        v = -(xx - cx) * np.sin(th) + (yy - cy) * np.cos(th)
        mask[(u / a) ** 2 + (v / b) ** 2 <= 1] = 1.0
    image = image + 0.3 * mask + 0.1 * np.sin(xx / 3.0)
    return image.astype("float32")[..., None], mask[..., None]


class SceneSequence(keras.utils.PyDataset):
    def __init__(self, count, cfg, seed, flip=False, **kwargs):
        super().__init__(**kwargs)
        rng = np.random.default_rng(seed)
        pairs = [draw_scene(rng, cfg["size"]) for _ in range(count)]
        self.x = np.stack([p[0] for p in pairs])
        self.y = np.stack([p[1] for p in pairs])
        self.batch, self.flip = cfg["batch"], flip
        self.order = np.arange(count)

    def __len__(self):
        return int(np.ceil(len(self.order) / self.batch))

    def __getitem__(self, i):
        idx = self.order[i * self.batch:(i + 1) * self.batch]
        x, y = self.x[idx], self.y[idx]
        if self.flip and i % 2:
            x, y = x[:, :, ::-1], y[:, :, ::-1]
        return x, y

    def on_epoch_end(self):
        np.random.shuffle(self.order)


def unet(size):
    inp = keras.Input((size, size, 1))
    a = layers.Conv2D(12, 3, padding="same", activation="relu")(inp)
    b = layers.Conv2D(24, 3, strides=2, padding="same", activation="relu")(a)
    c = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu")(b)
    d = layers.Conv2DTranspose(24, 3, strides=2, padding="same", activation="relu")(c)
    d = layers.Concatenate()([d, b])
    e = layers.Conv2DTranspose(12, 3, strides=2, padding="same", activation="relu")(d)
    e = layers.Concatenate()([e, a])
    return keras.Model(inp, layers.Conv2D(1, 1, activation="sigmoid")(e))


def mean_iou(model, seq):
    scores = []
    for i in range(len(seq)):
        x, y = seq[i]
        p = model.predict_on_batch(x) > 0.5
        inter = np.logical_and(p, y > 0.5).sum((1, 2, 3))
        union = np.logical_or(p, y > 0.5).sum((1, 2, 3))
        scores.extend(inter / np.maximum(union, 1))
    return float(np.mean(scores))


def main(cfg):
    keras.utils.set_random_seed(17)
    train = SceneSequence(cfg["train"], cfg, seed=0, flip=True)
    val = SceneSequence(cfg["val"], cfg, seed=1)
    model = unet(cfg["size"])
    model.compile(optimizer=keras.optimizers.Adam(cfg["lr"]), loss="binary_crossentropy",
                  metrics=[keras.metrics.BinaryIoU([1], name="iou")])
    model.fit(train, validation_data=val, epochs=cfg["epochs"], verbose=2, workers=cfg["workers"])
    print(f"validation IoU {mean_iou(model, val):.3f}")


if __name__ == "__main__":
    main(CONFIG)
