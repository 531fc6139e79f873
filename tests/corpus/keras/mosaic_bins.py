import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)

# six bins of mosaic stones, one folder per bin
BINS = ["azure", "rust", "moss", "sand", "plum", "slate"]
colors = np.array([[60, 120, 200], [170, 80, 50], [90, 120, 60], [190, 170, 130], [110, 60, 110], [105, 115, 125]])


def load_bin(i, count):
    base = colors[i] + rng.normal(0, 22, (count, 1, 1, 3))
    photo = base + rng.normal(0, 40, (count, 12, 12, 3))
    return np.clip(photo, 0, 255).astype("uint8")


def load_all(count):
    images, labels = [], []
    for i in range(len(BINS)):
        images.append(load_bin(i, count))
        labels += [i] * count
    return np.concatenate(images), np.array(labels)


x_train, y_train = load_all(400)
x_test, y_test = load_all(80)

train_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train))
train_ds = train_ds.shuffle(64).batch(32).prefetch(2)
test_ds = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(32)

model = keras.Sequential([
    keras.Input((12, 12, 3)),
    layers.Rescaling(1 / 255),
    layers.Conv2D(16, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(32, 3, activation="relu"),
    layers.Flatten(),
    layers.Dense(64, activation="relu"),
    layers.Dense(6, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train_ds, validation_data=test_ds, epochs=6, verbose=2)

loss, acc = model.evaluate(test_ds, verbose=0)
print("test accuracy", acc)
