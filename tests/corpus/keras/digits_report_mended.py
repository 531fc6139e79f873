"""Classify handwritten digits and print a per-class report."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.metrics import classification_report, confusion_matrix, accuracy_score
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(7)
BATCH = 32

X, y = load_digits(return_X_y=True)
X = (X / 16.0).astype("float32").reshape(-1, 8, 8, 1)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.25, stratify=y, random_state=7)


def make_dataset(images, labels, shuffle=True):
    ds = tf.data.Dataset.from_tensor_slices((images, labels))
    if shuffle:
        ds = ds.shuffle(len(images))
    return ds.batch(BATCH).prefetch(tf.data.AUTOTUNE)


train_ds = make_dataset(X_train, y_train)
test_ds = make_dataset(X_test, y_test, shuffle=False)

model = keras.Sequential([
    layers.Input((8, 8, 1)),
    layers.Conv2D(32, 3, padding="same", activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(64, 3, padding="same", activation="relu"),
    layers.Flatten(),
    layers.Dropout(0.3),
    layers.Dense(10, activation="softmax"),
])
model.compile(optimizer=keras.optimizers.Adam(1e-3),
              loss="sparse_categorical_crossentropy",
              metrics=["accuracy"])
model.fit(train_ds, epochs=15, validation_data=test_ds, verbose=2)

loss, acc = model.evaluate(test_ds, verbose=0)
print(f"evaluate: loss={loss:.3f} accuracy={acc:.3f}")

y_pred = model.predict(test_ds, verbose=0).argmax(axis=1)
y_true = np.concatenate([labels.numpy() for _, labels in test_ds])
print(confusion_matrix(y_true, y_pred))
print(classification_report(y_true, y_pred, digits=3))
print(f"report accuracy: {accuracy_score(y_true, y_pred):.3f}")
