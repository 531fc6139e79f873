import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
from dataclasses import dataclass

import keras
import numpy as np
from keras import layers


@dataclass
class Settings:
    size: int = 32
    n_train: int = 400
    n_test: int = 100
    base: int = 12
    lr: float = 2e-3
    epochs: int = 8
    batch: int = 16


def draw_slide(rng, size):
    yy, xx = np.mgrid[0:size, 0:size]
    image = rng.normal(185, 12, (size, size))
    image += 15 * np.sin(xx / rng.uniform(4, 9))
    mask = np.zeros((size, size), np.uint8)
    for _ in range(rng.integers(2, 5)):
        cy, cx = rng.uniform(4, size - 4, 2)
        ry, rx = rng.uniform(2.5, 5, 2)
        inside = ((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2 < 1
        mask[inside] = 255
        image[inside] = rng.normal(115, 18, inside.sum())
    return image.clip(0, 255).astype(np.uint8), mask


def load_slides(n, size, seed):
    rng = np.random.default_rng(seed)
    images, masks = zip(*(draw_slide(rng, size) for _ in range(n)))
    images = np.stack(images)[..., None].astype("float32") / 255.0
    masks = np.stack(masks)[..., None].astype("float32") / 255.0
    return images, masks


def double_conv(x, ch):
    x = layers.Conv2D(ch, 3, padding="same", activation="relu")(x)
    return layers.Conv2D(ch, 3, padding="same", activation="relu")(x)


def small_unet(cfg):
    inp = keras.Input((cfg.size, cfg.size, 1))
    d1 = double_conv(inp, cfg.base)
    d2 = double_conv(layers.MaxPooling2D()(d1), cfg.base * 2)
    mid = double_conv(layers.MaxPooling2D()(d2), cfg.base * 3)
    u2 = double_conv(layers.Concatenate()([layers.UpSampling2D()(mid), d2]), cfg.base * 2)
    u1 = double_conv(layers.Concatenate()([layers.UpSampling2D()(u2), d1]), cfg.base)
    return keras.Model(inp, layers.Conv2D(1, 1, activation="sigmoid")(u1))


def iou(pred, mask):
    p = pred > 0.5
    m = mask > 0
    return (p & m).sum() / max((p | m).sum(), 1)


def run(cfg):
    x_tr, m_tr = load_slides(cfg.n_train, cfg.size, 0)
    x_te, m_te = load_slides(cfg.n_test, cfg.size, 1)
    net = small_unet(cfg)
    net.compile(optimizer=keras.optimizers.Adam(cfg.lr), loss="binary_crossentropy")
    history = net.fit(x_tr, m_tr, batch_size=cfg.batch, epochs=cfg.epochs, verbose=2)
    pred = net.predict(x_te, verbose=0)
    print("nuclei share of the pixels:", round(float((m_te > 0).mean()), 3))
    print("share predicted as nuclei:", round(float((pred > 0.5).mean()), 3))
    print("last training loss:", round(history.history["loss"][-1], 4))
    print("IoU on the test slides:", round(float(iou(pred, m_te)), 3))


if __name__ == "__main__":
    keras.utils.set_random_seed(21)
    run(Settings())
