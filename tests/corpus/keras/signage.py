import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(2)
SIZE, PER_CLASS = 24, 350
CLASSES = ["disc", "ring", "square", "frame", "cross", "stripe"]
yy, xx = np.mgrid[:SIZE, :SIZE]


def draw(name, rng):
    cx, cy = rng.uniform(9, 15, size=2)
    r = rng.uniform(5, 8)
    dist = np.hypot(xx - cx, yy - cy)
    box = np.maximum(abs(xx - cx), abs(yy - cy))
    mask = {
        "disc": dist < r,
        "ring": (dist < r) & (dist > r - 2.5),
        "square": box < r,
        "frame": (box < r) & (box > r - 2.5),
        "cross": (box < r) & ((abs(xx - cx) < 1.5) | (abs(yy - cy) < 1.5)),
        "stripe": (box < r) & ((yy - int(cy)) % 4 < 2),
    }[name]
    image = np.where(mask, rng.uniform(0.6, 1.0), rng.uniform(0.0, 0.3))
    return (image + rng.normal(0, 0.15, image.shape)).astype("float32")[..., None]


def folder(seed, count):
    rng = np.random.default_rng(seed)
    images, labels = [], []
    for label, name in enumerate(CLASSES):
        for _ in range(count):
            images.append(draw(name, rng))
            labels.append(label)
    return np.stack(images), np.array(labels)


train_images, train_labels = folder(0, PER_CLASS)
test_images, test_labels = folder(1, 60)

train_ds = (tf.data.Dataset.from_tensor_slices((train_images, train_labels))
            .shuffle(100)
            .batch(32)
            .prefetch(tf.data.AUTOTUNE))
test_ds = tf.data.Dataset.from_tensor_slices((test_images, test_labels)).batch(60)

model = keras.Sequential([
    keras.Input((SIZE, SIZE, 1)),
    layers.Conv2D(16, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(32, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Flatten(),
    layers.Dense(64, activation="relu"),
    layers.Dense(len(CLASSES), activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train_ds, validation_data=test_ds, epochs=6, verbose=2)

pred = model.predict(test_ds, verbose=0).argmax(1)
for i, name in enumerate(CLASSES):
    print(f"{name:8s} recall {(pred[test_labels == i] == i).mean():.2f}")
