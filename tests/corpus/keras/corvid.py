import math

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class DigitBatches(keras.utils.PyDataset):
    """Batches of digit images, moved by up to one pixel when augment is set."""

    def __init__(self, images, labels, batch_size=32, augment=False, seed=0, **kwargs):
        super().__init__(**kwargs)
        self.images, self.labels = images, labels
        self.batch_size, self.augment = batch_size, augment
        self.rng = np.random.default_rng(seed)
        self.order = np.arange(len(images))

    def __len__(self):
        return math.ceil(len(self.images) / self.batch_size)

    def __getitem__(self, index):
        part = slice(index * self.batch_size, (index + 1) * self.batch_size)
        x = self.images[self.order[part]]
        y = self.labels[part]
        if self.augment:
            x = np.stack([self.jitter(image) for image in x])
        return x, y

    def jitter(self, image):
        dy, dx = self.rng.integers(-1, 2, 2)
        padded = np.pad(image, ((1, 1), (1, 1), (0, 0)))
        return padded[1 + dy:9 + dy, 1 + dx:9 + dx]

    def on_epoch_end(self):
        if self.augment:
            self.rng.shuffle(self.order)


keras.utils.set_random_seed(17)
images, labels = load_digits(return_X_y=True)
images = (images / 16.0).astype("float32")[..., None].reshape(-1, 8, 8, 1)
x_train, x_val, y_train, y_val = train_test_split(images, labels, test_size=0.2, stratify=labels, random_state=17)

model = keras.Sequential([
    keras.Input((8, 8, 1)),
    layers.Conv2D(16, 3, padding="same", activation="relu"),
    layers.Conv2D(32, 3, padding="same", activation="relu"),
    layers.MaxPooling2D(),
    layers.Flatten(),
    layers.Dropout(0.25),
    layers.Dense(64, activation="relu"),
    layers.Dense(10),
])
model.compile(
    optimizer="adam",
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
history = model.fit(
    DigitBatches(x_train, y_train, augment=True, seed=1),
    validation_data=DigitBatches(x_val, y_val),
    epochs=10,
    verbose=2,
)
print("validation accuracy after the last epoch: %.3f" % history.history["val_accuracy"][-1])
