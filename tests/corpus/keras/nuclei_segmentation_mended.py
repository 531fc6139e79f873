import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(11)
SIZE = 24


def make_cells(n, seed):
    """Noisy microscope-like images with one to three elliptic nuclei and their masks."""
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[:SIZE, :SIZE]
    images = np.zeros((n, SIZE, SIZE, 1), "float32")
    masks = np.zeros((n, SIZE, SIZE, 1), "float32")
    for i in range(n):
        for _ in range(rng.integers(1, 4)):
            cy, cx = rng.uniform(4, SIZE - 4, 2)
            ry, rx = rng.uniform(2.5, 5, 2)
            inside = ((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2 < 1
            masks[i, inside, 0] = 1.0
        images[i, ..., 0] = 0.25 + 0.4 * masks[i, ..., 0] + rng.normal(0, 0.15, (SIZE, SIZE))
    return np.clip(images, 0, 1), masks


def augment(image, mask):
    both = tf.concat([image, mask], axis=-1)
    both = tf.image.random_flip_left_right(both)
    both = tf.image.random_flip_up_down(both)
    image, mask = both[..., :1], both[..., 1:]
    image = tf.image.random_brightness(image, 0.05)
    return image, mask


train_x, train_y = make_cells(240, 0)
val_x, val_y = make_cells(60, 1)
train_ds = (
    tf.data.Dataset.from_tensor_slices((train_x, train_y))
    .shuffle(240)
    .map(augment, num_parallel_calls=1)
    .batch(16)
    .prefetch(1)
)
val_ds = tf.data.Dataset.from_tensor_slices((val_x, val_y)).batch(60)

inputs = keras.Input((SIZE, SIZE, 1))
c1 = layers.Conv2D(8, 3, padding="same", activation="relu")(inputs)
p1 = layers.MaxPooling2D()(c1)
c2 = layers.Conv2D(16, 3, padding="same", activation="relu")(p1)
u1 = layers.UpSampling2D()(c2)
c3 = layers.Conv2D(8, 3, padding="same", activation="relu")(layers.Concatenate()([u1, c1]))
outputs = layers.Conv2D(1, 1, activation="sigmoid")(c3)
model = keras.Model(inputs, outputs)

model.compile(
    optimizer=keras.optimizers.Adam(1e-2),
    loss="binary_crossentropy",
    metrics=[keras.metrics.BinaryIoU(target_class_ids=[1], name="iou")],
)
model.fit(train_ds, validation_data=val_ds, epochs=7, verbose=2)
print("validation loss / IoU of nuclei:", model.evaluate(val_ds, verbose=0))
