"""Land-cover segmentation of small aerial tiles.

Tiles come off the tiler in whatever size the parcel had (26..46 px); the network
works at 48x48.  Scores are reported on the native grid of every test tile.
"""
import argparse

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SIZE = 48
NAMES = ["soil", "hedge", "track", "orchard", "wheat"]
COLOURS = np.array([[.48, .36, .26], [.14, .30, .14], [.70, .66, .60],
                    [.30, .50, .22], [.80, .72, .34]], "float32")


def draw_tile(rng):
    h, w = rng.integers(26, 47, size=2)
    yy, xx = np.mgrid[0:h, 0:w]
    mask = np.zeros((h, w), "uint8")
    for _ in range(rng.integers(2, 5)):                       # fields
        cls = rng.choice([3, 4], p=[.3, .7])
        cy, cx = rng.uniform(0, h), rng.uniform(0, w)
        ry, rx = rng.uniform(5, 12, size=2)
        a = rng.uniform(0, np.pi)
        u = (yy - cy) * np.cos(a) + (xx - cx) * np.sin(a)
        v = -(yy - cy) * np.sin(a) + (xx - cx) * np.cos(a)
        mask[(np.abs(u) < ry) & (np.abs(v) < rx)] = cls
    for cls, width in ((1, 1.6), (2, 1.3)):                   # linear features
        if rng.random() < .6:
            a, off = rng.uniform(0, np.pi), rng.uniform(-6, 6)
            d = (yy - h / 2) * np.cos(a) + (xx - w / 2) * np.sin(a) - off
            mask[np.abs(d) < width] = cls
    img = COLOURS[mask] + rng.normal(0, .07, (h, w, 3))
    img += rng.normal(0, .05)
    return img.astype("float32"), mask


def prepare(img, mask):
    img = tf.image.resize(img, (SIZE, SIZE))
    mask = tf.image.resize(mask[..., None], (SIZE, SIZE))
    return img, tf.cast(mask[..., 0], tf.int32)


def build_net(n_classes, width):
    inp = keras.Input((SIZE, SIZE, 3))

    def block(x, f):
        x = layers.Conv2D(f, 3, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization(momentum=.9)(x)
        return layers.ReLU()(x)

    e1 = block(inp, width)
    e2 = block(layers.MaxPooling2D()(e1), 2 * width)
    e3 = block(layers.MaxPooling2D()(e2), 2 * width)
    d2 = block(layers.Concatenate()([layers.UpSampling2D()(e3), e2]), 2 * width)
    d1 = block(layers.Concatenate()([layers.UpSampling2D()(d2), e1]), width)
    return keras.Model(inp, layers.Conv2D(n_classes, 1)(d1))


def boundary(mask):
    b = np.zeros(mask.shape, bool)
    dy, dx = mask[1:] != mask[:-1], mask[:, 1:] != mask[:, :-1]
    b[1:] |= dy
    b[:-1] |= dy
    b[:, 1:] |= dx
    b[:, :-1] |= dx
    return b


def evaluate_native(model, tiles):
    n = len(NAMES)
    cm = np.zeros((n, n), int)
    hit = tot = 0
    x = np.stack([tf.image.resize(im, (SIZE, SIZE)).numpy() for im, _ in tiles])
    logits = model.predict(x, verbose=0)
    for lg, (_, m) in zip(logits, tiles):
        p = tf.image.resize(lg, m.shape).numpy().argmax(-1)
        np.add.at(cm, (m.ravel(), p.ravel()), 1)
        b = boundary(m)
        hit += (p[b] == m[b]).sum()
        tot += b.sum()
    inter = np.diag(cm)
    iou = inter / (cm.sum(0) + cm.sum(1) - inter)
    return iou, hit / tot, cm.sum(1).max() / cm.sum()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=10)
    ap.add_argument("--width", type=int, default=12)
    ap.add_argument("--seed", type=int, default=4)
    args = ap.parse_args()
    keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    tiles = [draw_tile(rng) for _ in range(420)]
    train, test = tiles[:340], tiles[340:]

    pairs = [prepare(im, m) for im, m in train]
    ds = tf.data.Dataset.from_tensor_slices((np.stack([p[0] for p in pairs]),
                                             np.stack([p[1] for p in pairs])))
    ds = ds.shuffle(340, seed=args.seed).batch(16).prefetch(2)

    model = build_net(len(NAMES), args.width)
    model.compile(keras.optimizers.Adam(4e-3),
                  loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"])
    model.fit(ds, epochs=args.epochs, verbose=2)

    iou, bacc, majority = evaluate_native(model, test)
    for name, v in zip(NAMES, iou):
        print(f"  IoU {name:8s} {v:.3f}")
    print(f"test mIoU {iou.mean():.3f}  boundary pixel accuracy {bacc:.3f}  "
          f"(share of the largest class {majority:.3f})")


if __name__ == "__main__":
    main()
