import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers
from sklearn.metrics import classification_report, confusion_matrix

keras.utils.set_random_seed(5)
IMG = 24
BATCH_SIZE = 32
class_names = ["pillar", "bowl", "lantern", "cone"]


def draw(kind, rng):
    img = rng.normal(0.2, 0.08, (IMG, IMG))
    cx, cy, r = rng.integers(9, 15), rng.integers(9, 15), rng.integers(4, 8)
    yy, xx = np.mgrid[:IMG, :IMG]
    if kind == 0:
        m = (abs(xx - cx) < 3) & (abs(yy - cy) < r + 2)
    elif kind == 1:
        m = ((xx - cx) ** 2 + (yy - cy) ** 2 < r * r) & (yy > cy)
    elif kind == 2:
        m = np.maximum(abs(xx - cx), abs(yy - cy)) == r
    else:
        m = (abs(xx - cx) < (yy - cy + r) / 2) & (yy < cy + r)
    img[m] += 0.6
    return img[..., None]


rng = np.random.default_rng(5)
labels = rng.integers(0, 4, 1400)
images = np.stack([draw(k, rng) for k in labels]).astype("float32")

train_ds = tf.data.Dataset.from_tensor_slices((images[:1000], labels[:1000])).shuffle(1000).batch(BATCH_SIZE)
val_ds = tf.data.Dataset.from_tensor_slices((images[1000:1200], labels[1000:1200])).batch(BATCH_SIZE)
test_ds = tf.data.Dataset.from_tensor_slices((images[1200:], labels[1200:])).shuffle(200).batch(BATCH_SIZE)

model = keras.Sequential([
    keras.Input((IMG, IMG, 1)),
    layers.Conv2D(16, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(32, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Flatten(),
    layers.Dropout(0.3),
    layers.Dense(4, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train_ds, validation_data=val_ds, epochs=8, verbose=2)

probs = model.predict(test_ds, verbose=0)
y_pred = np.argmax(probs, axis=1)
y_true = np.concatenate([y.numpy() for _, y in test_ds])

print(confusion_matrix(y_true, y_pred))
print(classification_report(y_true, y_pred, target_names=class_names))
