import numpy as np
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

keras.utils.set_random_seed(1)
SIZE, N_CLASSES, PER_CLASS = 20, 6, 200


def make_image(kind, rng):
    yy, xx = np.mgrid[:SIZE, :SIZE]
    cx, cy = rng.uniform(7, 13, 2)
    d = np.hypot(xx - cx, yy - cy)
    r = rng.uniform(4.5, 6.5)
    shape = [
        d < r,
        (d < r) & (d > r - 2),
        (np.abs(xx - cx) < r) & (np.abs(yy - cy) < 2),
        (np.abs(xx - cx) < 2) & (np.abs(yy - cy) < r),
        np.abs(np.abs(xx - cx) - np.abs(yy - cy)) < 1.5,
        (d < r) & (xx > cx),
    ][kind]
    return (0.7 * shape + rng.normal(0.1, 0.12, (SIZE, SIZE)))[..., None]


def load_split(per_class, seed):
    rng = np.random.default_rng(seed)
    images, labels = [], []
    for label in range(N_CLASSES):
        for _ in range(per_class):
            images.append(make_image(label, rng))
            labels.append(label)
    return np.array(images, dtype="float32"), np.array(labels)


x_train, y_train = load_split(PER_CLASS, 0)
x_val, y_val = load_split(40, 1)

train_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).batch(32).prefetch(2)
val_ds = tf.data.Dataset.from_tensor_slices((x_val, y_val)).batch(32)

model = keras.Sequential([
    layers.Input((SIZE, SIZE, 1)),
    layers.Conv2D(16, 3, padding="same", activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(32, 3, padding="same", activation="relu"),
    layers.GlobalMaxPooling2D(),
    layers.Dense(64, activation="relu"),
    layers.Dense(N_CLASSES, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train_ds, validation_data=val_ds, epochs=12, verbose=2)
print("validation:", model.evaluate(val_ds, verbose=0))
