"""Cloud masks on small satellite crops: U-Net with a soft Dice loss on logits, bfloat16 compute."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

keras.utils.set_random_seed(12)
keras.mixed_precision.set_global_policy("mixed_bfloat16")
rng = np.random.default_rng(12)
S = 32


def crop():
    yy, xx = np.mgrid[:S, :S]
    land = 0.4 + 0.15 * np.sin(xx / rng.uniform(2, 5)) * np.cos(yy / rng.uniform(2, 5))
    mask = np.zeros((S, S), bool)
    for _ in range(rng.integers(1, 3)):
        cx, cy, r = rng.uniform(4, 28), rng.uniform(4, 28), rng.uniform(3, 6)
        mask |= (xx - cx) ** 2 + ((yy - cy) * 1.4) ** 2 < r * r
    img = land[..., None] + np.where(mask[..., None], [0.3, 0.3, 0.1], 0)
    return img + 0.15 * rng.normal(size=(S, S, 3)), mask[..., None]


def dice_loss(y_true, logits):
    p = ops.sigmoid(ops.cast(logits, "float32"))
    inter = ops.sum(p * y_true, axis=(1, 2, 3))
    total = ops.sum(p, axis=(1, 2, 3)) + ops.sum(y_true, axis=(1, 2, 3))
    return 1 - (2 * inter + 1) / (total + 1)


def conv(x, width):
    x = layers.Conv2D(width, 3, padding="same", use_bias=False)(x)
    return layers.ReLU()(layers.GroupNormalization(4)(x))


data = [crop() for _ in range(700)]
x = np.stack([a for a, _ in data]).astype("float32")
y = np.stack([b for _, b in data]).astype("float32")
print("cloud share", y.mean())

inputs = keras.Input((S, S, 3))
a = conv(inputs, 8)
b = conv(layers.MaxPooling2D()(a), 16)
c = conv(layers.MaxPooling2D()(b), 16)
b = conv(layers.Concatenate()([layers.UpSampling2D()(c), b]), 16)
a = conv(layers.Concatenate()([layers.UpSampling2D()(b), a]), 8)
model = keras.Model(inputs, layers.Conv2D(1, 1, dtype="float32")(a))
model.compile(
    keras.optimizers.AdamW(5e-3, weight_decay=1e-3),
    loss=dice_loss,
    metrics=[keras.metrics.BinaryAccuracy(threshold=0.0), keras.metrics.BinaryIoU([1], threshold=0.0, name="iou")],
)
train = tf.data.Dataset.from_tensor_slices((x[:600], y[:600])).cache().shuffle(600, seed=0).batch(20)
test = tf.data.Dataset.from_tensor_slices((x[600:], y[600:])).batch(50)
model.fit(train, validation_data=test, epochs=6, verbose=2)
print(model.evaluate(test, return_dict=True, verbose=0))
