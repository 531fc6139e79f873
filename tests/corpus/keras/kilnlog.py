import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers
from sklearn.metrics import classification_report

tf.random.set_seed(11)
rng = np.random.RandomState(11)

# firing programs: bisque, glaze, raku, crystalline
def firing(kind):
    t = np.linspace(0, 1, 60)
    if kind == 0:
        c = np.minimum(t * 2, 1.0)
    elif kind == 1:
        c = np.minimum(t * 1.4, 1.0) * (t < 0.85) + 0.6 * (t >= 0.85)
    elif kind == 2:
        c = np.minimum(t * 4, 1.0) * (t < 0.5) + 0.1 * (t >= 0.5)
    else:
        c = np.minimum(t * 2, 1.0) - 0.15 * (t > 0.6)
    c = c * rng.uniform(0.9, 1.1) + rng.normal(0, 0.06, 60)
    return c


y = rng.randint(0, 4, size=1600)
x = np.array([firing(k) for k in y], dtype="float32")[:, :, None]
x = (x - x.mean()) / x.std()

n_train, n_val = 1000, 200
x_train, y_train = x[:n_train], y[:n_train]
x_val, y_val = x[n_train:n_train + n_val], y[n_train:n_train + n_val]
x_test, y_test = x[n_train + n_val:], y[n_train + n_val:]

BATCH = 32
train_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(1000).batch(BATCH)
val_ds = tf.data.Dataset.from_tensor_slices((x_val, y_val)).batch(BATCH)
test_ds = tf.data.Dataset.from_tensor_slices((x_test, y_test)).shuffle(1000).batch(BATCH)

model = keras.Sequential([
    layers.Conv1D(16, 5, activation="relu", input_shape=(60, 1)),
    layers.MaxPooling1D(2),
    layers.Conv1D(32, 5, activation="relu"),
    layers.Flatten(),
    layers.Dropout(0.3),
    layers.Dense(4, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])

early = keras.callbacks.EarlyStopping(monitor="val_loss", patience=3, restore_best_weights=True)
model.fit(train_ds, validation_data=val_ds, epochs=12, callbacks=[early], verbose=2)

y_pred = np.argmax(model.predict(test_ds, verbose=0), axis=1)
y_true = np.concatenate([labels.numpy() for _, labels in test_ds])

print(classification_report(y_true, y_pred, target_names=["bisque", "glaze", "raku", "crystalline"]))
print("accuracy:", (y_true == y_pred).mean())
