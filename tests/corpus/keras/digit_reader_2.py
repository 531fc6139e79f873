# exported from digit_reader.ipynb
import os
import numpy as np
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import train_test_split

# In[1]:
keras.utils.set_random_seed(0)
os.makedirs("out", exist_ok=True)

digits = load_digits()
X = digits.images.astype("float32")[..., None] / 16.0
y = digits.target
print(X.shape, y.shape, X.min(), X.max())

# In[2]:
X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
X_tr, X_va, y_tr, y_va = train_test_split(X_tr, y_tr, test_size=0.15, random_state=0, stratify=y_tr)
print("train/val/test", len(X_tr), len(X_va), len(X_te))

# In[3]:
augment = keras.Sequential([
    layers.RandomTranslation(0.05, 0.05, fill_mode="constant"),
    layers.RandomRotation(0.02, fill_mode="constant"),
])


def residual(x, filters):
    skip = x if x.shape[-1] == filters else layers.Conv2D(filters, 1)(x)
    h = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
    h = layers.Conv2D(filters, 3, padding="same")(h)
    return layers.ReLU()(layers.Add()([skip, h]))


inputs = keras.Input((8, 8, 1))
h = augment(inputs)
h = residual(h, 16)
h = layers.MaxPooling2D()(h)
h = residual(h, 32)
h = layers.GlobalAveragePooling2D()(h)
h = layers.Dense(64, activation="relu")(h)
h = layers.Dropout(0.2)(h)
outputs = layers.Dense(10, name="scores")(h)
model = keras.Model(inputs, outputs)
model.summary()

# In[4]:
model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=4e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(),
    metrics=["accuracy"],
)
history = model.fit(
    X_tr, y_tr,
    validation_data=(X_va, y_va),
    epochs=18,
    batch_size=32,
    callbacks=[
        keras.callbacks.ModelCheckpoint(
            "out/digit_reader.weights.h5", monitor="val_accuracy",
            save_best_only=True, save_weights_only=True),
    ],
    verbose=2,
)

# In[5]:
model.load_weights("out/digit_reader.weights.h5")
scores = model.predict(X_te, verbose=0)
pred = scores.argmax(axis=1)
print(confusion_matrix(y_te, pred))
print("best val acc %.3f" % max(history.history["val_accuracy"]))
print("test acc     %.3f   majority %.3f" % ((pred == y_te).mean(), np.bincount(y_te).max() / len(y_te)))
