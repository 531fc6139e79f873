import os
os.environ["KERAS_BACKEND"] = "tensorflow"

import tempfile
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(3)

# four measurements of a tea bag -> which of three blends it is
rng = np.random.default_rng(3)
n = 1500
y = rng.integers(0, 3, n)
means = np.array([[2.0, 51.0, 0.3, 7.1], [2.3, 48.0, 0.5, 6.6], [1.8, 55.0, 0.4, 6.2]])
x = means[y] + rng.normal(size=(n, 4)) * [0.2, 3.0, 0.1, 0.3]
x = x.astype("float32")

x_train, y_train = x[:1200], y[:1200]
x_test, y_test = x[1200:], y[1200:]

norm = layers.Normalization()
norm.adapt(x_train)

model = keras.Sequential([
    keras.Input((4,)),
    norm,
    layers.Dense(32, activation="relu"),
    layers.Dense(32, activation="relu"),
    layers.Dense(3, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, epochs=15, batch_size=32, validation_split=0.1, verbose=2)

loss, acc = model.evaluate(x_test, y_test, verbose=0)
print("test accuracy:", round(acc, 3))

# store it, then open it again like the web app will do
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "tea_model")
    model.export(path, verbose=False)
    again = keras.models.load_model(path)
    probs = again.predict(x_test[:5], verbose=0)
    print("first five:", probs.argmax(axis=1), "should be", y_test[:5])
