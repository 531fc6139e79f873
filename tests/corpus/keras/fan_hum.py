import numpy as np
import tensorflow as tf
from tensorflow import keras

RATE = 2000
FRAME = 256
BANDS = 64
CONDITIONS = ("normal", "loose_blade", "dry_bearing", "off_balance")


class FanRecorder:
    """Simulates microphone frames of a fan in several conditions."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def frame(self, cond):
        t = np.arange(FRAME) / RATE
        f0 = self.rng.uniform(55, 75)
        s = np.sin(2 * np.pi * f0 * t + self.rng.uniform(0, 6))
        if cond == 1:
            s += 0.5 * np.sin(2 * np.pi * 3.5 * f0 * t + self.rng.uniform(0, 6))
        elif cond == 2:
            s += 0.4 * np.sin(2 * np.pi * self.rng.uniform(600, 800) * t)
        elif cond == 3:
            s *= 1 + 0.7 * np.sin(2 * np.pi * 22 * t + self.rng.uniform(0, 6))
        return s + self.rng.normal(0, 0.3, FRAME)

    def record(self, n):
        labels = self.rng.integers(0, len(CONDITIONS), n)
        frames = np.stack([self.frame(c) for c in labels])
        spec = np.abs(np.fft.rfft(frames * np.hanning(FRAME)))[:, :BANDS * 2]
        spec = np.log1p(spec).astype("float32")
        return spec[..., None], labels.astype("int64")


def pipeline(x, y, batch, training):
    feats = tf.data.Dataset.from_tensor_slices(x)
    labels = tf.data.Dataset.from_tensor_slices(y)
    if training:
        ds = tf.data.Dataset.zip((feats.shuffle(len(x)), labels.shuffle(len(y))))
    else:
        ds = tf.data.Dataset.zip((feats, labels))
    return ds.batch(batch).prefetch(tf.data.AUTOTUNE)


def network():
    inp = keras.Input((BANDS * 2, 1))
    h = inp
    for width in (16, 32):
        h = keras.layers.Conv1D(width, 5, padding="same")(h)
        h = keras.layers.BatchNormalization()(h)
        h = keras.layers.ReLU()(h)
        h = keras.layers.MaxPooling1D(2)(h)
    h = keras.layers.Flatten()(h)
    h = keras.layers.Dense(32, activation="relu")(h)
    return keras.Model(inp, keras.layers.Dense(len(CONDITIONS))(h))


def run():
    keras.utils.set_random_seed(3)
    x, y = FanRecorder(0).record(2500)
    xv, yv = FanRecorder(1).record(500)
    model = network()
    model.compile(
        optimizer="adam",
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(pipeline(x, y, 50, True), validation_data=pipeline(xv, yv, 100, False),
              epochs=8, verbose=2)
    _, acc = model.evaluate(pipeline(xv, yv, 100, False), verbose=0)
    print("final validation accuracy: %.3f" % acc)


if __name__ == "__main__":
    run()
