import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.metrics import classification_report

keras.utils.set_random_seed(7)

# ---- load the 8x8 digits -------------------------------------------------
digits = load_digits()
images = digits.images.astype("float32") / 16.0
images = images[..., np.newaxis]
labels = digits.target

X_train, X_test, y_train, y_test = train_test_split(
    images, labels, test_size=0.25, random_state=0, stratify=labels
)
print("train:", X_train.shape, "test:", X_test.shape)

# ---- network -------------------------------------------------------------
model = keras.Sequential(
    [
        keras.Input(shape=(8, 8, 1)),
        layers.Conv2D(16, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dropout(0.2),
        layers.Dense(64, activation="relu"),
        layers.Dense(10),
    ]
)
model.compile(
    optimizer="adam",
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.summary()

history = model.fit(
    X_train, y_train,
    batch_size=32,
    epochs=8,
    validation_split=0.1,
    verbose=2,
)

# ---- results -------------------------------------------------------------
loss, acc = model.evaluate(X_test, y_test, verbose=0)
print(f"test loss {loss:.4f}  test accuracy {acc:.4f}")
pred = model.predict(X_test, verbose=0).argmax(axis=1)
print(classification_report(y_test, pred, zero_division=0))
