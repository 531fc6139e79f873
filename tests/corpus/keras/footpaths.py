"""Which terrain does a walker cross? Clips of 10 accelerometer frames, each frame goes through the same encoder."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras

CONFIG = dict(frames=10, points=32, terrains=5, n=1500, hidden=32, epochs=14, batch=50, lr=3e-3, seed=13)


def clips(c):
    rng = np.random.default_rng(c["seed"])
    y = rng.integers(0, c["terrains"], c["n"])
    t = np.arange(c["points"]) / c["points"]
    freq = 1.5 + y[:, None, None] * 0.9 + rng.normal(0, 0.12, (c["n"], c["frames"], 1))
    phase = rng.uniform(0, 2 * np.pi, (c["n"], c["frames"], 1))
    x = np.sin(2 * np.pi * freq * t + phase) + rng.normal(0, 0.35, (c["n"], c["frames"], c["points"]))
    return x.astype("float32"), y


class ClipNet(keras.Model):
    """Frame encoder, then a mean over the frames of the clip, then the classifier."""

    def __init__(self, c):
        super().__init__()
        self.frames = c["frames"]
        self.encoder = keras.Sequential([
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(c["hidden"], activation="relu"),
        ])
        self.classifier = keras.layers.Dense(c["terrains"])

    def call(self, x, training=False):
        flat = tf.reshape(x, (-1, x.shape[-1]))
        h = self.encoder(flat, training=training)
        h = tf.reshape(h, (self.frames, -1, h.shape[-1]))
        pooled = tf.reduce_mean(h, axis=0)
        return self.classifier(pooled)


def main(c):
    keras.utils.set_random_seed(c["seed"])
    x, y = clips(c)
    model = ClipNet(c)
    model.compile(optimizer=keras.optimizers.Adam(c["lr"]),
                  loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    model.fit(x[:1200], y[:1200], validation_data=(x[1200:], y[1200:]),
              batch_size=c["batch"], epochs=c["epochs"], verbose=2)
    print("held-out", dict(zip(["loss", "accuracy"], np.round(model.evaluate(x[1200:], y[1200:], batch_size=c["batch"], verbose=0), 3))))


if __name__ == "__main__":
    main(CONFIG)
