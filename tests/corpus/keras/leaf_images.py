# Leaf species from small pictures. The pictures come in one folder per species,
# so they are read species after species.
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras
from keras import layers

SIZE = 24
SPECIES = ["oak", "birch", "maple", "willow", "beech", "ash"]
PER_SPECIES = 500
BATCH = 32
EPOCHS = 6

keras.utils.set_random_seed(11)
rng = np.random.default_rng(11)
yy, xx = np.mgrid[-1:1:SIZE * 1j, -1:1:SIZE * 1j]


def draw_leaf(kind):
    angle = rng.normal(0, 0.25)
    u = xx * np.cos(angle) + yy * np.sin(angle) + rng.normal(0, 0.08)
    v = -xx * np.sin(angle) + yy * np.cos(angle) + rng.normal(0, 0.08)
    r = np.hypot(u, v) + 1e-6
    th = np.arctan2(v, u)
    lobes = [5, 0, 3, 0, 0, 7][kind]
    ratio = [1.0, 1.0, 1.0, 2.6, 1.6, 1.0][kind]
    edge = 0.6 * (1 + 0.3 * np.cos(lobes * th)) if lobes else 0.6
    inside = np.hypot(u * ratio / 1.2, v) < edge
    img = inside * rng.uniform(0.6, 1.0)
    return (img + rng.normal(0, 0.2, img.shape)).astype("float32")


def read_folder(per_species):
    images, labels = [], []
    for k, _ in enumerate(SPECIES):
        for _ in range(per_species):
            images.append(draw_leaf(k))
            labels.append(k)
    return np.stack(images)[..., None], np.array(labels, dtype="int32")


train_x, train_y = read_folder(PER_SPECIES)
test_x, test_y = read_folder(80)


def augment(img, label):
    img = tf.image.random_flip_left_right(img)
    img = tf.image.random_brightness(img, 0.1)
    return img, label


train_ds = (
    tf.data.Dataset.from_tensor_slices((train_x, train_y))
    .cache()
    .shuffle(64)
    .map(augment, num_parallel_calls=2)
    .batch(BATCH)
    .prefetch(2)
)
test_ds = tf.data.Dataset.from_tensor_slices((test_x, test_y)).batch(128)

model = keras.Sequential([
    keras.Input((SIZE, SIZE, 1)),
    layers.Conv2D(16, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(32, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Flatten(),
    layers.Dense(64, activation="relu"),
    layers.Dense(len(SPECIES), activation="softmax"),
])
model.compile(optimizer=keras.optimizers.Adam(1e-3),
              loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train_ds, validation_data=test_ds, epochs=EPOCHS, verbose=2)

pred = model.predict(test_ds, verbose=0).argmax(-1)
print("test accuracy", round(float((pred == test_y).mean()), 4))
for k, name in enumerate(SPECIES):
    print(f"  {name:8s} recall {float((pred[test_y == k] == k).mean()):.3f}")
