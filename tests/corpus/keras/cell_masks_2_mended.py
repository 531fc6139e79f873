import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(3)
SIZE = 40
AUTO = tf.data.AUTOTUNE


def draw(n, seed):
    """Microscopy-like fields: bright cells are the target, thin bright fibres are not."""
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[:SIZE, :SIZE]
    imgs = np.zeros((n, SIZE, SIZE, 1), np.float32)
    masks = np.zeros_like(imgs)
    for i in range(n):
        img = rng.uniform(0.1, 0.3) + 0.15 * xx / SIZE
        for _ in range(rng.integers(1, 4)):
            cx, cy = rng.uniform(6, SIZE - 6, 2)
            a, b = rng.uniform(3, 7, 2)
            t = rng.uniform(0, np.pi)
            u = (xx - cx) * np.cos(t) + (yy - cy) * np.sin(t)
            v = -(xx - cx) * np.sin(t) + (yy - cy) * np.cos(t)
            inside = (u / a) ** 2 + (v / b) ** 2 < 1
            img = np.where(inside, rng.uniform(0.5, 0.8), img)
            masks[i, ..., 0][inside] = 1
        for _ in range(2):
            t, d = rng.uniform(0, np.pi), rng.uniform(-12, 12)
            line = np.abs((xx - SIZE / 2) * np.cos(t) + (yy - SIZE / 2) * np.sin(t) - d) < 0.8
            img = np.where(line & (masks[i, ..., 0] == 0), 0.7, img)
        imgs[i, ..., 0] = img + rng.normal(0, 0.08, img.shape)
    return imgs, masks


def augment(img, mask):
    both = tf.concat([img, mask], axis=-1)
    both = tf.image.random_flip_left_right(both)
    both = tf.image.random_flip_up_down(both)
    img, mask = both[..., :1], both[..., 1:]
    img = tf.image.random_brightness(img, 0.1)
    img = tf.image.random_contrast(img, 0.9, 1.1)
    return img, mask


def conv(x, f):
    x = layers.Conv2D(f, 3, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization(momentum=0.9)(x)
    return layers.ReLU()(x)


def unet():
    inp = keras.Input((SIZE, SIZE, 1))
    c1 = conv(inp, 8)
    c2 = conv(layers.MaxPooling2D()(c1), 16)
    c3 = conv(layers.MaxPooling2D()(c2), 24)
    u2 = conv(layers.Concatenate()([layers.UpSampling2D()(c3), c2]), 16)
    u1 = conv(layers.Concatenate()([layers.UpSampling2D()(u2), c1]), 8)
    return keras.Model(inp, layers.Conv2D(1, 1, activation="sigmoid")(u1))


train_x, train_y = draw(384, 0)
val_x, val_y = draw(96, 1)

train_ds = (
    tf.data.Dataset.from_tensor_slices((train_x, train_y))
    .shuffle(384)
    .map(augment, num_parallel_calls=AUTO)
    .batch(16)
    .prefetch(AUTO)
)
val_ds = tf.data.Dataset.from_tensor_slices((val_x, val_y)).batch(32)

model = unet()
model.compile(
    optimizer=keras.optimizers.Adam(5e-3),
    loss="binary_crossentropy",
    metrics=[keras.metrics.BinaryIoU(target_class_ids=[1], threshold=0.5, name="iou")],
)
model.fit(train_ds, validation_data=val_ds, epochs=10, verbose=2)

prob = model.predict(val_x, verbose=0)
pred = prob > 0.5
inter = np.logical_and(pred, val_y > 0).sum((1, 2, 3))
dice = 2 * inter / (pred.sum((1, 2, 3)) + val_y.sum((1, 2, 3)) + 1e-6)
print("foreground share   %.3f" % val_y.mean())
print("held-out mean dice %.3f (all-foreground dice %.3f)" % (dice.mean(), 2 * val_y.mean() / (1 + val_y.mean())))
