import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(5)
SIZE = 28
CLASSES = 5
AUTOTUNE = tf.data.AUTOTUNE


def draw_leaf(rng, kind):
    """A closed outline r(theta) with `kind`-dependent lobes, filled."""
    lobes = [0, 3, 5, 7, 4][kind]
    amp = [0.0, 0.25, 0.22, 0.2, 0.35][kind]
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    cy, cx = rng.uniform(12, 15, 2)
    theta = np.arctan2(yy - cy, xx - cx)
    rad = np.hypot(yy - cy, xx - cx)
    r0 = rng.uniform(7.5, 9.0)
    edge = r0 * (1 + amp * np.cos(lobes * theta + rng.uniform(0, 0.6)))
    img = 1 / (1 + np.exp(rad - edge))
    return img + 0.05 * rng.standard_normal(img.shape)


def make_set(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, CLASSES, n)
    x = np.stack([draw_leaf(rng, k) for k in y])[..., None].astype("float32")
    return x, y.astype("int32")


def augment(img, label):
    img = tf.image.random_flip_left_right(img)
    img = tf.image.rot90(img, tf.random.uniform([], 0, 4, tf.int32))
    img = tf.pad(img, [[4, 4], [4, 4], [0, 0]])
    img = tf.image.random_crop(img, [SIZE, SIZE, 1])
    y0 = tf.random.uniform([], 0, SIZE - 9, tf.int32)
    x0 = tf.random.uniform([], 0, SIZE - 9, tf.int32)
    hole = tf.pad(tf.ones([9, 9, 1]), [[y0, SIZE - 9 - y0], [x0, SIZE - 9 - x0], [0, 0]])
    img = img * (1.0 - hole)
    img = img + tf.random.normal(tf.shape(img), stddev=0.2)
    return img, label


def pipeline(x, y, training):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if training:
        ds = ds.shuffle(len(x))
        ds = ds.map(augment, num_parallel_calls=AUTOTUNE)
    return ds.batch(64).prefetch(AUTOTUNE)


def build():
    L = tf.keras.layers
    net = tf.keras.Sequential([tf.keras.Input((SIZE, SIZE, 1))])
    for width in (16, 32, 48):
        net.add(L.Conv2D(width, 3, padding="same"))
        net.add(L.ReLU())
        net.add(L.MaxPool2D())
    net.add(L.Flatten())
    net.add(L.Dense(64, activation="relu"))
    net.add(L.Dense(CLASSES))
    return net


x_tr, y_tr = make_set(2000, 0)
x_va, y_va = make_set(500, 1)
train_ds = pipeline(x_tr, y_tr, training=True)
val_ds = pipeline(x_va, y_va, training=False)

model = build()
model.compile(
    optimizer=tf.keras.optimizers.Adam(
        tf.keras.optimizers.schedules.CosineDecay(3e-3, 12 * len(train_ds))
    ),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(train_ds, validation_data=val_ds, epochs=12, verbose=2)
scores = [model.evaluate(val_ds, verbose=0, return_dict=True) for _ in range(3)]
for s in scores:
    print({k: round(v, 4) for k, v in s.items()})
