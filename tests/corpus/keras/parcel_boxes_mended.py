"""Locate the parcel on a conveyor image: small CNN, GIoU + L1 loss, COCO style annotations."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

SEED, SIZE = 21, 40
keras.utils.set_random_seed(SEED)


class ConveyorImages:
    """Rendered grey images plus a COCO like annotation list."""

    def __init__(self, n, seed):
        self.rng = np.random.default_rng(seed)
        self.images = np.zeros((n, SIZE, SIZE, 1), "float32")
        self.annotations = []
        for i in range(n):
            self.images[i, :, :, 0], bbox = self.draw()
            self.annotations.append({"id": i, "image_id": i, "category_id": 1,
                                     "bbox": bbox, "area": bbox[2] * bbox[3], "iscrowd": 0})

    def draw(self):
        r = self.rng
        w, h = r.integers(10, 24, size=2)
        x, y = r.integers(0, SIZE - w), r.integers(0, SIZE - h)
        img = r.normal(0.25, 0.05, (SIZE, SIZE)) + 0.05 * np.sin(np.arange(SIZE) / r.uniform(1, 3))[None]
        img[y:y + h, x:x + w] = r.uniform(0.5, 0.9) + r.normal(0, 0.05, (h, w))
        tape = y + h // 2
        img[tape:tape + 2, x:x + w] -= 0.2
        return img, [float(x), float(y), float(w), float(h)]


def make_dataset(source, batch, shuffle=False):
    boxes = np.array([a["bbox"] for a in source.annotations], "float32")
    boxes[:, 2:] += boxes[:, :2]
    ds = tf.data.Dataset.from_tensor_slices((source.images, boxes / SIZE))
    if shuffle:
        ds = ds.shuffle(len(boxes), seed=SEED)
    return ds.batch(batch).prefetch(2)


def giou(a, b):
    """Generalised IoU of two sets of (x1, y1, x2, y2) boxes."""
    area_a = tf.nn.relu(a[:, 2] - a[:, 0]) * tf.nn.relu(a[:, 3] - a[:, 1])
    area_b = tf.nn.relu(b[:, 2] - b[:, 0]) * tf.nn.relu(b[:, 3] - b[:, 1])
    inter_wh = tf.nn.relu(tf.minimum(a[:, 2:], b[:, 2:]) - tf.maximum(a[:, :2], b[:, :2]))
    inter = inter_wh[:, 0] * inter_wh[:, 1]
    union = area_a + area_b - inter
    hull_wh = tf.nn.relu(tf.maximum(a[:, 2:], b[:, 2:]) - tf.minimum(a[:, :2], b[:, :2]))
    hull = hull_wh[:, 0] * hull_wh[:, 1]
    return inter / (union + 1e-7) - (hull - union) / (hull + 1e-7)


class BoxLoss(keras.losses.Loss):
    def __init__(self, l1=5.0, **kw):
        super().__init__(**kw)
        self.l1 = l1

    def call(self, y_true, y_pred):
        return (1.0 - giou(y_true, y_pred)) + self.l1 * tf.reduce_mean(tf.abs(y_true - y_pred), axis=-1)


class CornerHead(layers.Layer):
    """Predicts centre and size, returns corners in [0, 1] units."""

    def build(self, shape):
        self.fc = layers.Dense(4)
        self.fc.build(shape)

    def call(self, x):
        c, s = tf.split(tf.sigmoid(self.fc(x)), 2, axis=-1)
        return tf.concat([c - s / 2, c + s / 2], axis=-1)


def build_model():
    inp = keras.Input((SIZE, SIZE, 1))
    x = layers.Rescaling(4.0, offset=-1.5)(inp)
    for f in (12, 24, 32):
        x = layers.Conv2D(f, 3, strides=2, padding="same")(x)
        x = layers.BatchNormalization(momentum=0.9)(x)
        x = layers.ReLU()(x)
    x = layers.Flatten()(x)
    x = layers.Dense(96, activation="relu")(x)
    return keras.Model(inp, CornerHead()(x))


def coco_scores(corners, annotations):
    """Mean IoU and share of hits at 0.5 / 0.75, measured on the raw annotations."""
    ious = []
    for (x1, y1, x2, y2), ann in zip(corners * SIZE, annotations):
        gx, gy, gw, gh = ann["bbox"]
        iw = max(0.0, min(x2, gx + gw) - max(x1, gx))
        ih = max(0.0, min(y2, gy + gh) - max(y1, gy))
        ious.append(iw * ih / ((x2 - x1) * (y2 - y1) + gw * gh - iw * ih))
    ious = np.array(ious)
    return ious.mean(), (ious > 0.5).mean(), (ious > 0.75).mean()


if __name__ == "__main__":
    train, test = ConveyorImages(3000, SEED), ConveyorImages(500, SEED + 1)
    model = build_model()
    steps = len(train.images) // 64 * 14
    model.compile(keras.optimizers.AdamW(keras.optimizers.schedules.CosineDecay(2e-3, steps), weight_decay=1e-4),
                  loss=BoxLoss())
    model.fit(make_dataset(train, 64, shuffle=True), validation_data=make_dataset(test, 250),
              epochs=14, verbose=2)
    pred = model.predict(test.images, verbose=0)
    print("held-out: mean IoU %.3f  AP50 %.3f  AP75 %.3f" % coco_scores(pred, test.annotations))
    centre = np.tile(np.array([[0.29, 0.29, 0.71, 0.71]]), (len(pred), 1))
    print("always the centre box: mean IoU %.3f  AP50 %.3f  AP75 %.3f" % coco_scores(centre, test.annotations))
