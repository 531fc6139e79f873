"""Segment bright cells in noisy microscope-like tiles (tiny U-Net, tf.data)."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
import keras
from keras import layers


@dataclass
class Config:
    size: int = 32
    n_train: int = 500
    n_val: int = 120
    batch: int = 16
    epochs: int = 10
    lr: float = 2e-3
    seed: int = 3


def synth(n, size, rng):
    yy, xx = np.mgrid[:size, :size]
    imgs = np.zeros((n, size, size, 1), "float32")
    masks = np.zeros((n, size, size, 1), "float32")
    for i in range(n):
        for _ in range(rng.integers(1, 4)):
            cy, cx = rng.uniform(4, size - 4, 2)
            ry, rx = rng.uniform(2.5, 6, 2)
            inside = ((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2 < 1
            masks[i, inside, 0] = 1
        imgs[i, ..., 0] = 0.8 * masks[i, ..., 0] + 0.1 * (xx / size)
    imgs += rng.normal(0, 0.35, imgs.shape)
    return imgs.astype("float32"), masks


def augment(img, mask):
    both = tf.image.random_flip_left_right(tf.concat([img, mask], -1))
    img, mask = both[..., :1], both[..., 1:]
    img = tf.image.random_brightness(img, 0.1)
    return img, mask


def make_ds(x, y, cfg, training):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if training:
        ds = ds.shuffle(len(x), seed=cfg.seed).map(augment, num_parallel_calls=2)
    return ds.batch(cfg.batch).prefetch(1)


def conv(x, f):
    x = layers.Conv2D(f, 3, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization(momentum=0.9)(x)
    return layers.ReLU()(x)


def unet(size):
    inp = keras.Input((size, size, 1))
    a = conv(inp, 12)
    b = conv(layers.MaxPooling2D()(a), 24)
    c = conv(layers.MaxPooling2D()(b), 32)
    u = layers.Concatenate()([layers.UpSampling2D()(c), b])
    u = conv(u, 24)
    u = layers.Concatenate()([layers.UpSampling2D()(u), a])
    u = conv(u, 12)
    return keras.Model(inp, layers.Conv2D(1, 1, activation="sigmoid")(u))


def dice(y, p):
    p = tf.cast(p > 0.5, tf.float32)
    inter = tf.reduce_sum(y * p)
    return (2 * inter + 1) / (tf.reduce_sum(y) + tf.reduce_sum(p) + 1)


cfg = Config()
keras.utils.set_random_seed(cfg.seed)
rng = np.random.default_rng(cfg.seed)
train = make_ds(*synth(cfg.n_train, cfg.size, rng), cfg, True)
val = make_ds(*synth(cfg.n_val, cfg.size, rng), cfg, False)

net = unet(cfg.size)
net.compile(keras.optimizers.Adam(cfg.lr), "binary_crossentropy", metrics=[dice])
net.fit(train, validation_data=val, epochs=cfg.epochs, verbose=2)
print({k: round(float(v), 4) for k, v in net.evaluate(val, verbose=0, return_dict=True).items()})
