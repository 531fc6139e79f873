"""Find the pallet in a 32x32 warehouse camera frame."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(14)
rng = np.random.default_rng(14)
SIZE = 32


def scenes(n):
    """Frames, annotations (x, y, width, height in pixels, as in the export) and pixel masks."""
    img = rng.normal(0, 0.15, size=(n, SIZE, SIZE, 1)).astype("float32")
    ann = np.zeros((n, 4), "float32")
    mask = np.zeros((n, SIZE, SIZE), bool)
    for i in range(n):
        w, h = rng.integers(8, 17, size=2)
        x, y = rng.integers(0, SIZE - w + 1), rng.integers(0, SIZE - h + 1)
        img[i, y:y + h, x:x + w] += 1.0
        mask[i, y:y + h, x:x + w] = True
        ann[i] = (x, y, w, h)
    return img, ann, mask


def to_corners(boxes):
    a, b, w, h = tf.unstack(tf.cast(boxes, tf.float32), axis=-1)
    return tf.stack([a - w / 2, b - h / 2, a + w / 2, b + h / 2], axis=-1)


def giou(p, t):
    inter = tf.maximum(tf.minimum(p[:, 2:], t[:, 2:]) - tf.maximum(p[:, :2], t[:, :2]), 0.0)
    inter = inter[:, 0] * inter[:, 1]
    area = lambda b: (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    union = area(p) + area(t) - inter
    hull = tf.maximum(p[:, 2:], t[:, 2:]) - tf.minimum(p[:, :2], t[:, :2])
    hull = hull[:, 0] * hull[:, 1]
    return inter / (union + 1e-6) - (hull - union) / (hull + 1e-6)


def prepare(ann):
    xy, wh = ann[:, :2] / SIZE, ann[:, 2:] / SIZE
    return np.concatenate([xy, xy + wh], axis=1)


def box_loss(y_true, y_pred):
    p = to_corners(y_pred)
    return 1.0 - giou(p, y_true) + tf.reduce_mean(tf.abs(p - y_true), axis=-1)


model = keras.Sequential([
    keras.Input((SIZE, SIZE, 1)),
    layers.Conv2D(12, 3, strides=2, padding="same", activation="relu"),
    layers.Conv2D(24, 3, strides=2, padding="same", activation="relu"),
    layers.Flatten(),
    layers.Dense(64, activation="relu"),
    layers.Dense(4, activation="sigmoid"),
])
img, ann, _ = scenes(4000)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=box_loss)
model.fit(img, prepare(ann), epochs=10, batch_size=64, verbose=2)

img_t, _, mask_t = scenes(400)
boxes = np.round(to_corners(model.predict(img_t, verbose=0)).numpy() * SIZE).astype(int)
scores = []
for (x1, y1, x2, y2), m in zip(boxes, mask_t):
    drawn = np.zeros_like(m)
    drawn[max(y1, 0):max(y2, 0), max(x1, 0):max(x2, 0)] = True
    scores.append((drawn & m).sum() / (drawn | m).sum())
print(f"overlap with the pallet's pixels: mean {np.mean(scores):.3f}, above 0.5: {np.mean(np.array(scores) > 0.5):.3f}")
