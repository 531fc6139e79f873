import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.metrics import classification_report, confusion_matrix

keras.utils.set_random_seed(21)
IMG, BATCH = 24, 32
CLASSES = ["daisy", "rose", "tulip"]


def draw(n, rng):
    yy, xx = np.mgrid[-1:1:IMG * 1j, -1:1:IMG * 1j]
    r, a = np.hypot(xx, yy), np.arctan2(yy, xx)
    images, labels = [], rng.integers(0, 3, n)
    for k in labels:
        turn = rng.uniform(0, 6.28)
        shape = r < 0.5 + 0.3 * np.cos((8, 5, 3)[k] * (a + turn))
        tint = rng.uniform(0.3, 1.0, 3)
        image = shape[..., None] * tint + rng.normal(0, 0.12, (IMG, IMG, 3))
        images.append((np.clip(image, 0, 1) * 255).astype("uint8"))
    return np.stack(images), labels.astype("int64")


def make_dataset(images, labels):
    ds = tf.data.Dataset.from_tensor_slices((images, labels))
    ds = ds.shuffle(len(images), seed=21)
    ds = ds.batch(BATCH)
    return ds.prefetch(tf.data.AUTOTUNE)


rng = np.random.default_rng(21)
train_ds = make_dataset(*draw(1200, rng))
val_ds = make_dataset(*draw(300, rng))

model = keras.Sequential([
    keras.Input((IMG, IMG, 3)),
    layers.Rescaling(1 / 255),
    layers.Conv2D(16, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(32, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(32, 3, activation="relu"),
    layers.Flatten(),
    layers.Dense(64, activation="relu"),
    layers.Dense(3, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train_ds, validation_data=val_ds, epochs=7, verbose=2)

probs = model.predict(val_ds, verbose=0)
y_pred = probs.argmax(axis=1)
y_true = np.concatenate([y for _, y in val_ds])
print(confusion_matrix(y_true, y_pred))
print(classification_report(y_true, y_pred, target_names=CLASSES, digits=3))
