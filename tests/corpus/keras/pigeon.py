import os
import pathlib
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits
from sklearn.metrics import classification_report, confusion_matrix

keras.utils.set_random_seed(3)

# digits written out as a folder per class, the way our scanner delivers them
root = pathlib.Path(tempfile.mkdtemp())
digits = load_digits()
for i, (img, label) in enumerate(zip(digits.images[:1400], digits.target[:1400])):
    folder = root / str(label)
    folder.mkdir(exist_ok=True)
    png = tf.io.encode_png((img[..., None] * 15.9).astype("uint8"))
    tf.io.write_file(str(folder / f"{i:05d}.png"), png)

common = dict(
    validation_split=0.25,
    seed=11,
    image_size=(8, 8),
    color_mode="grayscale",
    batch_size=32,
)
train_ds = keras.utils.image_dataset_from_directory(root, subset="training", **common)
val_ds = keras.utils.image_dataset_from_directory(root, subset="validation", **common)
class_names = train_ds.class_names

train_ds = train_ds.cache().prefetch(tf.data.AUTOTUNE)
val_ds = val_ds.prefetch(tf.data.AUTOTUNE)

model = keras.Sequential([
    keras.Input((8, 8, 1)),
    layers.Rescaling(1 / 255),
    layers.Conv2D(32, 3, padding="same", activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(64, 3, padding="same", activation="relu"),
    layers.Flatten(),
    layers.Dropout(0.3),
    layers.Dense(len(class_names), activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train_ds, validation_data=val_ds, epochs=12, verbose=2)

probs = model.predict(val_ds, verbose=0)
y_pred = probs.argmax(axis=1)
y_true = np.concatenate([y for _, y in val_ds], axis=0)

print(confusion_matrix(y_true, y_pred))
print(classification_report(y_true, y_pred, target_names=class_names, zero_division=0))
