import math
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class StampBatches(keras.utils.PyDataset):
    def __init__(self, images, labels, batch_size, jitter=0, shuffle=False, seed=0, **kwargs):
        super().__init__(**kwargs)
        self.images, self.labels = images, labels
        self.batch_size, self.jitter, self.shuffle = batch_size, jitter, shuffle
        self.rng = np.random.default_rng(seed)
        self.order = np.arange(len(images))
        self.on_epoch_end()

    def __len__(self):
        return math.ceil(len(self.images) / self.batch_size)

    def on_epoch_end(self):
        if self.shuffle:
            self.rng.shuffle(self.order)

    def _shift(self, image):
        dy, dx = self.rng.integers(-self.jitter, self.jitter + 1, size=2)
        return np.roll(image, (dy, dx), axis=(0, 1))

    def __getitem__(self, index):
        rows = self.order[index * self.batch_size : (index + 1) * self.batch_size]
        batch = self.images[rows]
        if self.jitter:
            batch = np.stack([self._shift(im) for im in batch])
        return batch.astype("float32")[..., None], self.labels[rows]


def load_stamps():
    bunch = load_digits()
    small = (bunch.images * 15.9).astype("uint8")
    big = small.repeat(2, axis=1).repeat(2, axis=2)
    return train_test_split(big, bunch.target, test_size=0.25, random_state=1, stratify=bunch.target)


def convnet(side, classes):
    inputs = keras.Input((side, side, 1))
    h = layers.Rescaling(1.0 / 255)(inputs)
    h = layers.Conv2D(12, 3, activation="relu", padding="same")(h)
    h = layers.MaxPooling2D()(h)
    h = layers.Conv2D(24, 3, activation="relu", padding="same")(h)
    h = layers.MaxPooling2D()(h)
    h = layers.Flatten()(h)
    h = layers.Dense(48, activation="relu")(h)
    return keras.Model(inputs, layers.Dense(classes, activation="softmax")(h))


def main():
    keras.utils.set_random_seed(8)
    x_tr, x_te, y_tr, y_te = load_stamps()
    train = StampBatches(x_tr, y_tr, 32, jitter=1, shuffle=True)
    test = StampBatches(x_te, y_te, 64)
    model = convnet(16, 10)
    model.compile(
        optimizer=keras.optimizers.SGD(0.05, momentum=0.9),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    model.fit(train, validation_data=test, epochs=10, verbose=2)
    loss, acc = model.evaluate(test, verbose=0)
    print(f"test loss {loss:.3f}  test accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
