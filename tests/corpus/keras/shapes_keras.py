"""Digits with augmentation layers inside the model and callbacks."""
import os
import tempfile
import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.metrics import classification_report
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(13)
bunch = load_digits()
x = np.repeat(np.repeat(bunch.images, 2, axis=1), 2, axis=2)[..., None].astype("float32")
x_train, x_test, y_train, y_test = train_test_split(x, bunch.target, test_size=0.2, stratify=bunch.target,
                                                    random_state=13)
x_train, x_val, y_train, y_val = train_test_split(x_train, y_train, test_size=0.15, random_state=13)

train_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).cache().shuffle(2000).batch(32).prefetch(2)
val_ds = tf.data.Dataset.from_tensor_slices((x_val, y_val)).batch(64)
test_ds = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(64)

inputs = keras.Input((16, 16, 1))
h = layers.Rescaling(1 / 16)(inputs)
h = layers.RandomTranslation(0.08, 0.08, fill_mode="constant")(h)
h = layers.RandomRotation(0.03, fill_mode="constant")(h)
for filters in (16, 32):
    h = layers.Conv2D(filters, 3, padding="same", use_bias=False)(h)
    h = layers.BatchNormalization()(h)
    h = layers.ReLU()(h)
    h = layers.MaxPooling2D()(h)
h = layers.Flatten()(h)
h = layers.Dropout(0.3)(h)
outputs = layers.Dense(10)(h)
model = keras.Model(inputs, outputs)

model.compile(optimizer=keras.optimizers.AdamW(2e-3, weight_decay=1e-3),
              loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
path = os.path.join(tempfile.mkdtemp(), "best.keras")
callbacks = [
    keras.callbacks.ModelCheckpoint(path, monitor="val_accuracy", save_best_only=True),
    keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=2),
]
model.fit(train_ds, validation_data=val_ds, epochs=10, callbacks=callbacks, verbose=2)

best = keras.models.load_model(path)
pred = best.predict(test_ds, verbose=0).argmax(-1)
print(classification_report(y_test, pred, digits=3))
