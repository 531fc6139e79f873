import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, models, optimizers

CLASSES = ["stripes", "checker", "dots", "rings"]
SIZE = 16
BATCH_SIZE = 32
SEED = 123


def draw(kind, rng):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    f = rng.uniform(0.8, 1.5)
    p = rng.uniform(0, 6.28, 2)
    if kind == "stripes":
        a = rng.uniform(0, 3.14)
        img = np.sin(f * (np.cos(a) * xx + np.sin(a) * yy) + p[0])
    elif kind == "checker":
        img = np.sign(np.sin(f * xx + p[0]) * np.sin(f * yy + p[1]))
    elif kind == "dots":
        img = (np.sin(f * xx + p[0]) * np.sin(f * yy + p[1]) > 0.5) * 2.0 - 1
    else:
        c = rng.uniform(5, 11, 2)
        img = np.sin(f * 1.3 * np.hypot(xx - c[0], yy - c[1]) + p[0])
    return (img + rng.normal(0, 0.5, img.shape)).astype("float32")[..., None]


def load_split(per_class, seed):
    rng = np.random.default_rng(seed)
    images, labels = [], []
    for idx, name in enumerate(CLASSES):
        for _ in range(per_class):
            images.append(draw(name, rng))
            labels.append(idx)
    return np.array(images), np.array(labels, dtype="int32")


def augment(x, y):
    x = tf.image.random_flip_left_right(x)
    x = tf.image.random_flip_up_down(x)
    return x, y


tf.keras.utils.set_random_seed(SEED)
train_x, train_y = load_split(400, 1)
val_x, val_y = load_split(100, 2)

train_ds = tf.data.Dataset.from_tensor_slices((train_x, train_y))
train_ds = train_ds.map(augment, num_parallel_calls=tf.data.AUTOTUNE)
train_ds = train_ds.batch(BATCH_SIZE).shuffle(1600, seed=SEED)
train_ds = train_ds.prefetch(tf.data.AUTOTUNE)
val_ds = tf.data.Dataset.from_tensor_slices((val_x, val_y)).batch(BATCH_SIZE)

model = models.Sequential([layers.Input((SIZE, SIZE, 1))])
for width in (16, 32):
    model.add(layers.Conv2D(width, 3, padding="same", use_bias=False))
    model.add(layers.BatchNormalization(momentum=0.9))
    model.add(layers.ReLU())
    model.add(layers.MaxPooling2D())
model.add(layers.GlobalAveragePooling2D())
model.add(layers.Dense(len(CLASSES), activation="softmax"))

model.compile(optimizers.Adam(3e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train_ds, validation_data=val_ds, epochs=8, verbose=2)

cm = tf.math.confusion_matrix(val_y, model.predict(val_ds, verbose=0).argmax(-1)).numpy()
print(cm)
print("validation accuracy", cm.trace() / cm.sum())
