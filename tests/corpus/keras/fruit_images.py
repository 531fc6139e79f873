import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(11)

SIZE = 24
BATCH = 32
KINDS = ["apple", "pear", "plum", "lemon", "banana", "cherry"]


def draw(kind, rng):
    """One 24x24 RGB picture of a fruit on a noisy background."""
    img = rng.uniform(90, 160, size=(SIZE, SIZE, 3))
    yy, xx = np.mgrid[:SIZE, :SIZE]
    cy, cx = rng.uniform(9, 15, 2)
    r = rng.uniform(5, 7)
    if kind == "apple":
        m = (yy - cy) ** 2 + (xx - cx) ** 2 < r ** 2
        col = (200, 40, 40)
    elif kind == "pear":
        m = ((yy - cy) / 1.5) ** 2 + (xx - cx) ** 2 < (r * 0.8) ** 2
        col = (120, 180, 60)
    elif kind == "plum":
        m = (yy - cy) ** 2 + ((xx - cx) / 1.2) ** 2 < (r * 0.8) ** 2
        col = (110, 40, 140)
    elif kind == "lemon":
        m = ((yy - cy) * 1.3) ** 2 + ((xx - cx) / 1.3) ** 2 < (r * 0.9) ** 2
        col = (220, 210, 60)
    elif kind == "banana":
        m = np.abs((yy - cy) - 0.08 * (xx - cx) ** 2) < 2.2
        col = (225, 205, 70)
    else:
        m = ((yy - cy) ** 2 + (xx - cx - 4) ** 2 < 9) | ((yy - cy) ** 2 + (xx - cx + 4) ** 2 < 9)
        col = (170, 20, 50)
    img[m] = np.array(col) + rng.normal(0, 35, size=(m.sum(), 3))
    return np.clip(img, 0, 255)


def collect(per_kind, seed):
    rng = np.random.default_rng(seed)
    images, labels = [], []
    for idx, kind in enumerate(KINDS):
        for _ in range(per_kind):
            images.append(draw(kind, rng))
            labels.append(idx)
    return np.array(images, dtype="float32"), np.array(labels, dtype="int32")


x_train, y_train = collect(600, seed=1)
x_val, y_val = collect(100, seed=2)
print("train", x_train.shape, "val", x_val.shape)

train_ds = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .cache()
    .shuffle(BATCH * 4)
    .batch(BATCH)
    .prefetch(tf.data.AUTOTUNE)
)
val_ds = tf.data.Dataset.from_tensor_slices((x_val, y_val)).batch(BATCH).prefetch(tf.data.AUTOTUNE)

model = keras.Sequential([
    keras.Input((SIZE, SIZE, 3)),
    layers.Rescaling(1.0 / 255),
    layers.Conv2D(16, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(32, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Flatten(),
    layers.Dense(64, activation="relu"),
    layers.Dense(len(KINDS), activation="softmax"),
])
model.compile(optimizer=keras.optimizers.Adam(1e-3),
              loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train_ds, validation_data=val_ds, epochs=6, verbose=2)

loss, acc = model.evaluate(val_ds, verbose=0)
print(f"val loss {loss:.3f}  val accuracy {acc:.3f}")
counts = np.bincount(model.predict(val_ds, verbose=0).argmax(1), minlength=len(KINDS))
print("predicted:", dict(zip(KINDS, counts.tolist())))
