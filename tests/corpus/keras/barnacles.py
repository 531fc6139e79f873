import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, models

np.random.seed(0)
tf.random.set_seed(0)

IMG = 24
N = 1500
yy, xx = np.mgrid[0:IMG, 0:IMG]


def shell(cls):
    cx, cy = np.random.uniform(9, 15, 2)
    r = np.sqrt((xx - cx) ** 2 + (yy - cy) ** 2)
    a = np.arctan2(yy - cy, xx - cx)
    if cls == 0:      # acorn
        img = (r < 7).astype("float32")
    elif cls == 1:    # goose
        img = ((r < 7) & (np.sin(5 * a + np.random.rand()) > 0)).astype("float32")
    else:             # volcano
        img = ((r < 7) & (r > 4)).astype("float32")
    return img + np.random.normal(0, 0.25, (IMG, IMG))


y = np.random.randint(0, 3, N)
x = np.stack([shell(c) for c in y]).astype("float32")[..., None]

x_train, y_train = x[:1200], y[:1200]
x_test, y_test = x[1200:], y[1200:]

images = tf.data.Dataset.from_tensor_slices(x_train).shuffle(1200)
targets = tf.data.Dataset.from_tensor_slices(y_train).shuffle(1200)
train_ds = tf.data.Dataset.zip((images, targets)).batch(32).prefetch(tf.data.AUTOTUNE)
test_ds = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(64)

model = models.Sequential([
    layers.Input((IMG, IMG, 1)),
    layers.Conv2D(16, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(32, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Flatten(),
    layers.Dense(32, activation="relu"),
    layers.Dense(3),
])

model.compile(
    optimizer="adam",
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
history = model.fit(train_ds, epochs=8, validation_data=test_ds, verbose=2)

loss, acc = model.evaluate(test_ds, verbose=0)
print(f"test accuracy {acc:.3f}")
