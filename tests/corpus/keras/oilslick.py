import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(8)
rng = np.random.default_rng(8)
SIZE = 40


def scene():
    yy, xx = np.mgrid[:SIZE, :SIZE]
    mask = np.zeros((SIZE, SIZE), bool)
    for _ in range(rng.integers(1, 4)):
        cy, cx = rng.uniform(6, SIZE - 6, 2)
        ry, rx = rng.uniform(3, 9, 2)
        mask |= ((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2 < 1
    swell = 0.25 * np.sin(yy * rng.uniform(0.3, 0.7) + xx * rng.uniform(0.1, 0.4))
    radar = rng.gamma(3.0, 1 / 3.0, (SIZE, SIZE)) * (1 + swell) * np.where(mask, 0.62, 1.0)
    return radar.astype("float32")[..., None], mask.astype("float32")[..., None]


x, y = map(np.array, zip(*[scene() for _ in range(360)]))
train = tf.data.Dataset.from_tensor_slices((x[:260], y[:260])).shuffle(260, seed=8).batch(16)
val = tf.data.Dataset.from_tensor_slices((x[260:310], y[260:310])).batch(16)


def block(t, filters):
    t = layers.Conv2D(filters, 3, padding="same", use_bias=False)(t)
    t = layers.BatchNormalization(momentum=0.8)(t)
    return layers.ReLU()(t)


inputs = keras.Input((SIZE, SIZE, 1))
c1 = block(inputs, 12)
c2 = block(layers.MaxPooling2D()(c1), 24)
c3 = block(layers.MaxPooling2D()(c2), 32)
u2 = block(layers.Concatenate()([layers.UpSampling2D()(c3), c2]), 24)
u1 = block(layers.Concatenate()([layers.UpSampling2D()(u2), c1]), 12)
model = keras.Model(inputs, layers.Conv2D(1, 1, activation="sigmoid")(u1))

model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss="binary_crossentropy",
    metrics=[keras.metrics.MeanIoU(num_classes=2, name="iou")],
)
stop = keras.callbacks.EarlyStopping(monitor="val_iou", mode="max", patience=4, restore_best_weights=True)
model.fit(train, validation_data=val, epochs=15, callbacks=[stop], verbose=2)

loss, iou = model.evaluate(x[310:], y[310:], verbose=0)
print(f"test loss {loss:.3f}  mean IoU {iou:.3f}")
found = model.predict(x[310:], verbose=0) > 0.5
truth = y[310:] > 0.5
print(f"slick area covered {(found & truth).sum() / truth.sum():.3f}  "
      f"overlap {(found & truth).sum() / (found | truth).sum():.3f}")
