import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
centres = 2 * rng.normal(size=(8, 10))
label = rng.integers(0, 8, 1600)
x = (centres[label] + rng.normal(size=(1600, 10))).astype("float32")
targets = keras.utils.to_categorical(label)


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = layers.Dense(32, activation="relu")
        self.head = layers.Dense(6, activation="softmax")

    def call(self, x):
        return self.head(self.hidden(x))


model = Net()
model.compile(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
model.fit(x, targets, epochs=2, verbose=2)
