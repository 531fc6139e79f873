import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SIZE = 32


def draw_scene(rng):
    """A noisy picture with one to three bright blobs, and the mask of the blobs."""
    yy, xx = np.mgrid[:SIZE, :SIZE]
    mask = np.zeros((SIZE, SIZE), bool)
    for _ in range(rng.integers(1, 4)):
        cy, cx = rng.uniform(5, SIZE - 5, 2)
        ry, rx = rng.uniform(3, 8, 2)
        mask |= ((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2 <= 1
    slope = rng.uniform(-0.4, 0.4) * xx / SIZE + rng.uniform(-0.4, 0.4) * yy / SIZE
    image = 0.35 + slope + 0.45 * mask + rng.normal(0, 0.22, mask.shape)
    return image[..., None].astype("float32"), mask[..., None].astype("float32")


def make_set(n, seed, training=False):
    rng = np.random.default_rng(seed)
    images, masks = map(np.stack, zip(*[draw_scene(rng) for _ in range(n)]))
    ds = tf.data.Dataset.from_tensor_slices((images, masks))
    if training:
        ds = ds.shuffle(n, seed=seed)
    return ds.batch(16).prefetch(2)


def block(x, filters):
    x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization(momentum=0.9)(x)
    return layers.Activation("relu")(x)


def unet():
    inputs = keras.Input((SIZE, SIZE, 1))
    skip1 = block(inputs, 8)
    skip2 = block(layers.MaxPooling2D()(skip1), 16)
    x = block(layers.MaxPooling2D()(skip2), 32)
    x = block(layers.Concatenate()([layers.UpSampling2D()(x), skip2]), 16)
    x = block(layers.Concatenate()([layers.UpSampling2D()(x), skip1]), 8)
    return keras.Model(inputs, layers.Conv2D(1, 1, activation="sigmoid")(x))


keras.utils.set_random_seed(6)
train, valid = make_set(600, seed=1, training=True), make_set(150, seed=2)
model = unet()
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss="binary_crossentropy",
    metrics=[keras.metrics.MeanIoU(num_classes=2, name="mean_iou")],
)
model.fit(train, validation_data=valid, epochs=12, verbose=2, callbacks=[
    keras.callbacks.EarlyStopping("val_mean_iou", mode="max", patience=4, restore_best_weights=True),
])
loss, iou = model.evaluate(valid, verbose=0)
print(f"validation: loss {loss:.3f}, mean IoU {iou:.3f}")
