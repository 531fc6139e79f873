# Nuclei segmentation with a tiny U-Net. 48x48 phase-contrast like tiles.
import os

import numpy as np
import tensorflow as tf
import keras
from keras import layers

os.makedirs("out", exist_ok=True)
keras.utils.set_random_seed(11)

SIZE = 48
BATCH = 16
EPOCHS = 10
AUTOTUNE = tf.data.AUTOTUNE


def draw_tile(rng):
    """A few bright elliptical nuclei, debris (thin streaks) and uneven light."""
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype("float32")
    img = 0.25 + 0.15 * (xx * rng.uniform(-1, 1) + yy * rng.uniform(-1, 1)) / SIZE
    mask = np.zeros((SIZE, SIZE), "float32")
    for _ in range(rng.integers(2, 5)):
        cy, cx = rng.uniform(5, SIZE - 5, 2)
        a, b = rng.uniform(4, 8), rng.uniform(3, 6)
        th = rng.uniform(0, np.pi)
        u = (xx - cx) * np.cos(th) + (yy - cy) * np.sin(th)
        v = -(xx - cx) * np.sin(th) + (yy - cy) * np.cos(th)
        inside = (u / a) ** 2 + (v / b) ** 2 < 1
        mask[inside] = 1.0
        img = img + inside * rng.uniform(0.2, 0.35)
    for _ in range(3):
        cy, cx, th = rng.uniform(0, SIZE), rng.uniform(0, SIZE), rng.uniform(0, np.pi)
        d = np.abs(-(xx - cx) * np.sin(th) + (yy - cy) * np.cos(th))
        along = np.abs((xx - cx) * np.cos(th) + (yy - cy) * np.sin(th))
        img = img + ((d < 1.0) & (along < 10)) * 0.3
    img = img + rng.normal(0, 0.08, img.shape)
    return img.astype("float32")[..., None], mask[..., None]


def make_set(n, seed):
    rng = np.random.default_rng(seed)
    tiles = [draw_tile(rng) for _ in range(n)]
    return np.stack([t[0] for t in tiles]), np.stack([t[1] for t in tiles])


def augment(image, mask):
    both = tf.concat([image, mask], axis=-1)
    both = tf.image.random_flip_left_right(both)
    both = tf.image.random_flip_up_down(both)
    image, mask = both[..., :1], both[..., 1:]
    image = tf.image.random_brightness(image, 0.1)
    image = tf.image.random_contrast(image, 0.8, 1.2)
    return image, mask


def conv_block(x, filters):
    for _ in range(2):
        x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization(momentum=0.9)(x)
        x = layers.ReLU()(x)
    return x


def unet():
    inp = keras.Input((SIZE, SIZE, 1))
    c1 = conv_block(inp, 8)
    c2 = conv_block(layers.MaxPooling2D()(c1), 16)
    c3 = conv_block(layers.MaxPooling2D()(c2), 32)
    u2 = layers.Conv2DTranspose(16, 2, strides=2)(c3)
    c4 = conv_block(layers.Concatenate()([u2, c2]), 16)
    u1 = layers.Conv2DTranspose(8, 2, strides=2)(c4)
    c5 = conv_block(layers.Concatenate()([u1, c1]), 8)
    return keras.Model(inp, layers.Conv2D(1, 1, activation="sigmoid")(c5))


def dice_bce(y_true, y_pred):
    inter = tf.reduce_sum(y_true * y_pred, axis=(1, 2, 3))
    total = tf.reduce_sum(y_true + y_pred, axis=(1, 2, 3))
    dice = 1.0 - (2.0 * inter + 1.0) / (total + 1.0)
    bce = tf.reduce_mean(keras.losses.binary_crossentropy(y_true, y_pred), axis=(1, 2))
    return bce + dice


x_train, m_train = make_set(400, 0)
x_val, m_val = make_set(96, 1)
x_test, m_test = make_set(128, 2)

train_ds = (
    tf.data.Dataset.from_tensor_slices((x_train, m_train))
    .shuffle(len(x_train))
    .map(augment, num_parallel_calls=AUTOTUNE)
    .batch(BATCH)
    .prefetch(AUTOTUNE)
)
val_ds = tf.data.Dataset.from_tensor_slices((x_val, m_val)).batch(BATCH)

model = unet()
model.compile(keras.optimizers.Adam(3e-3), loss=dice_bce,
              metrics=[keras.metrics.BinaryIoU(target_class_ids=[1], name="iou")])
print("params:", model.count_params())
model.fit(
    train_ds,
    validation_data=val_ds,
    epochs=EPOCHS,
    callbacks=[
        keras.callbacks.CSVLogger("out/unet_log.csv"),
        keras.callbacks.ReduceLROnPlateau(monitor="val_loss", patience=3, factor=0.5),
    ],
    verbose=2,
)

pred = model.predict(x_test, verbose=0) > 0.5
truth = m_test > 0.5
iou = (pred & truth).sum() / (pred | truth).sum()
everything = truth.mean()
otsu = x_test > np.quantile(x_train, 1 - m_train.mean())
print(f"test IoU unet {iou:.3f} | plain threshold {(otsu & truth).sum() / (otsu | truth).sum():.3f}"
      f" | all foreground {everything:.3f}")
