import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import math
import numpy as np
import keras
from keras import layers
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

keras.utils.set_random_seed(7)


class WineSequence(keras.utils.Sequence):
    def __init__(self, x, y, batch_size=16, shuffle=True, **kwargs):
        super().__init__(**kwargs)
        self.x, self.y = x, y
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.order = np.arange(len(x))
        self.on_epoch_end()

    def __len__(self):
        return math.ceil(len(self.x) / self.batch_size)

    def __getitem__(self, i):
        rows = self.order[i * self.batch_size:(i + 1) * self.batch_size]
        return self.x[rows], self.y[rows]

    def on_epoch_end(self):
        if self.shuffle:
            np.random.shuffle(self.order)


data = load_wine()
x_train, x_test, y_train, y_test = train_test_split(
    data.data, data.target, test_size=0.25, stratify=data.target, random_state=7)
scaler = StandardScaler().fit(x_train)
x_train = scaler.transform(x_train).astype("float32")
x_test = scaler.transform(x_test).astype("float32")

train_gen = WineSequence(x_train, y_train)
test_gen = WineSequence(x_test, y_test, shuffle=False)

model = keras.Sequential([
    keras.Input(shape=(x_train.shape[1],)),
    layers.Dense(32, activation="relu"),
    layers.Dropout(0.2),
    layers.Dense(3, activation="softmax"),
])
model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=0.05, momentum=0.9, nesterov=True),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)

model.fit(
    train_gen,
    validation_data=test_gen,
    epochs=20,
    workers=2,
    verbose=2,
)

loss, acc = model.evaluate(test_gen, verbose=0)
print(f"test loss {loss:.3f}  accuracy {acc:.3f}")
