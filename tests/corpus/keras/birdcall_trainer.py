import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
from collections import Counter

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

SPECIES = ["wren", "thrush", "owl", "finch", "heron", "cuckoo"]
FRAMES, BANDS = 24, 20


def synth_call(kind, rng):
    t = np.arange(FRAMES)[:, None]
    f = np.arange(BANDS)[None]
    shift = rng.uniform(-1.5, 1.5)
    track = {
        0: 10 + 5 * np.sin(t / 1.5),
        1: 4 + 0.5 * t,
        2: np.full_like(t, 3, dtype=float),
        3: 16 - 0.5 * t,
        4: 8 + 3 * np.sign(np.sin(t / 3)),
        5: np.where(t % 8 < 4, 13, 7),
    }[kind]
    spec = np.exp(-((f - track - shift) ** 2) / 3.0) * rng.uniform(0.8, 1.6)
    return spec + np.abs(rng.normal(0, 0.25, spec.shape))


def make_library(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(SPECIES), n)
    return np.stack([synth_call(k, rng) for k in y]).astype("float32"), y.astype("int32")


def call_net():
    return tf.keras.Sequential(
        [
            layers.Input((FRAMES, BANDS)),
            layers.Conv1D(32, 3, padding="same", activation="relu"),
            layers.MaxPooling1D(2),
            layers.Flatten(),
            layers.Dense(64, use_bias=False),
            layers.BatchNormalization(momentum=0.9),
            layers.Activation("relu"),
            layers.Dropout(0.2),
            layers.Dense(len(SPECIES)),
        ]
    )


class CallClassifier:
    def __init__(self, lr=2e-3, batch=32):
        self.net = call_net()
        self.batch = batch
        self.opt = tf.keras.optimizers.Adam(lr)
        self.criterion = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.running = tf.keras.metrics.Mean()

    def forward(self, spectra, training=True):
        return self.net(spectra, training=training)

    @tf.function
    def _step(self, spectra, species):
        with tf.GradientTape() as tape:
            loss = self.criterion(species, self.forward(spectra))
        weights = self.net.trainable_weights
        self.opt.apply_gradients(zip(tape.gradient(loss, weights), weights))
        self.running.update_state(loss)

    def fit(self, x, y, epochs):
        ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x)).batch(self.batch, drop_remainder=True)
        for epoch in range(epochs):
            self.running.reset_state()
            for spectra, species in ds:
                self._step(spectra, species)
            print(f"epoch {epoch + 1} training loss {self.running.result():.4f}")
        return self

    def identify(self, clip):
        scores = self.forward(tf.constant(clip[None]))
        return int(tf.argmax(scores, axis=-1)[0])


def field_test(classifier, clips, species):
    hits, named = 0, Counter()
    for clip, truth in zip(clips, species):
        guess = classifier.identify(clip)
        named[SPECIES[guess]] += 1
        hits += guess == truth
    return hits / len(clips), named


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(31)
    x_train, y_train = make_library(1500, 0)
    x_field, y_field = make_library(240, 1)
    clf = CallClassifier().fit(x_train, y_train, epochs=8)
    accuracy, named = field_test(clf, x_field, y_field)
    print("named in the field:", dict(named))
    print(f"field accuracy {accuracy:.3f} over {len(SPECIES)} species")
