"""Segmentation with partly annotated masks (255 = nobody looked at this pixel)."""
import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(8)
rng = np.random.default_rng(8)
S, N_CLASSES, UNLABELLED = 32, 3, 255


def scene():
    yy, xx = np.mgrid[:S, :S]
    mask = np.zeros((S, S), "int32")
    for _ in range(rng.integers(1, 4)):
        c = rng.integers(1, N_CLASSES)
        cx, cy, r = rng.integers(4, S - 4), rng.integers(4, S - 4), rng.integers(3, 8)
        if c == 1:
            mask[(xx - cx) ** 2 + (yy - cy) ** 2 <= r * r] = 1
        else:
            mask[np.maximum(abs(xx - cx), abs(yy - cy)) <= r - 1] = 2
    colour = np.array([[0.3, 0.3, 0.3], [0.7, 0.35, 0.3], [0.3, 0.4, 0.7]])
    img = colour[mask] + rng.normal(0, 0.25, (S, S, 3))
    return img.astype("float32"), mask


def hide(mask):
    """annotators marked only a few square patches"""
    known = np.zeros((S, S), bool)
    for _ in range(4):
        a, b = rng.integers(0, S - 8, 2)
        known[a:a + 8, b:b + 8] = True
    return np.where(known, mask, UNLABELLED)


def dataset(n, partial):
    imgs, masks = zip(*[scene() for _ in range(n)])
    masks = [hide(m) for m in masks] if partial else masks
    return np.stack(imgs), np.stack(masks)


x_train, y_train = dataset(700, partial=True)
x_test, y_test = dataset(150, partial=False)
print("annotated share: %.2f, values %s" % ((y_train != UNLABELLED).mean(), np.unique(y_train)))

inp = keras.Input((S, S, 3))
d1 = layers.Conv2D(16, 3, padding="same", activation="relu")(inp)
d2 = layers.MaxPooling2D()(d1)
d2 = layers.Conv2D(32, 3, padding="same", activation="relu")(d2)
d3 = layers.MaxPooling2D()(d2)
d3 = layers.Conv2D(32, 3, padding="same", activation="relu")(d3)
u2 = layers.Concatenate()([layers.UpSampling2D()(d3), d2])
u2 = layers.Conv2D(32, 3, padding="same", activation="relu")(u2)
u1 = layers.Concatenate()([layers.UpSampling2D()(u2), d1])
u1 = layers.Conv2D(16, 3, padding="same", activation="relu")(u1)
logits = layers.Conv2D(N_CLASSES, 1)(u1)

unet = keras.Model(inp, logits)
unet.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=UNLABELLED),
)
unet.fit(x_train, y_train, batch_size=16, epochs=8, verbose=2)

pred = unet.predict(x_test, verbose=0).argmax(-1)
print("pixel accuracy :", (pred == y_test).mean().round(4), "| all background:", (y_test == 0).mean().round(4))
for c in range(N_CLASSES):
    inter = ((pred == c) & (y_test == c)).sum()
    union = ((pred == c) | (y_test == c)).sum()
    print(f"IoU class {c}: {inter / union:.3f}")
