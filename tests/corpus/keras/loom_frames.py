import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import math
import numpy as np
import keras
from keras import layers

SEED = 11
CLASSES = ["left", "right", "up", "down"]
keras.utils.set_random_seed(SEED)


def make_clip(rng, direction, frames=6, size=14):
    steps = {0: (0, -1), 1: (0, 1), 2: (-1, 0), 3: (1, 0)}
    dy, dx = steps[direction]
    y, x = rng.uniform(5, 9, size=2)
    yy, xx = np.mgrid[0:size, 0:size]
    clip = []
    for t in range(frames):
        cy, cx = y + dy * t * 0.8, x + dx * t * 0.8
        blob = np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / 3.0)
        clip.append(blob + rng.normal(0, 0.15, blob.shape))
    return np.stack(clip)[..., None].astype("float32")


class ClipSequence(keras.utils.Sequence):
    def __init__(self, clips, labels, batch_size, shuffle=True):
        super().__init__()
        self.clips, self.labels = clips, labels
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.order = np.arange(len(labels))
        self.on_epoch_end()

    def __len__(self):
        return math.ceil(len(self.labels) / self.batch_size)

    def __getitem__(self, i):
        rows = self.order[i * self.batch_size:(i + 1) * self.batch_size]
        return self.clips[rows], self.labels[rows]

    def on_epoch_end(self):
        if self.shuffle:
            np.random.shuffle(self.order)


def build_model():
    inputs = keras.Input((6, 14, 14, 1))
    x = layers.TimeDistributed(layers.Conv2D(8, 3, strides=2, activation="relu"))(inputs)
    x = layers.TimeDistributed(layers.Flatten())(x)
    x = layers.TimeDistributed(layers.Dense(24, activation="relu"))(x)
    x = layers.GRU(24)(x)
    return keras.Model(inputs, layers.Dense(len(CLASSES), activation="softmax")(x))


TRAINING = {
    "epochs": 10,
    "verbose": 2,
    "workers": 2,
}


def main():
    rng = np.random.default_rng(SEED)
    labels = rng.integers(0, 4, 700)
    clips = np.stack([make_clip(rng, d) for d in labels])
    train = ClipSequence(clips[:560], labels[:560], 32)
    val = ClipSequence(clips[560:], labels[560:], 32, shuffle=False)
    model = build_model()
    model.compile(keras.optimizers.Adam(3e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(train, validation_data=val, **TRAINING)
    loss, acc = model.evaluate(val, verbose=0)
    print(f"val loss {loss:.3f}  accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
