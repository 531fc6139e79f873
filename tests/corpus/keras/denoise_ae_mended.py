import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers
from sklearn.datasets import load_digits


class DigitSource:
    """Serves clean and noisy digit pictures."""

    def __init__(self, seed=0, noise=0.15):
        rng = np.random.RandomState(seed)
        pics = load_digits().images
        pics = pics.astype("float32") / 16.0
        pics = np.expand_dims(pics, -1)
        order = rng.permutation(len(pics))
        n_test = 300
        self.clean_train = pics[order[n_test:]]
        self.clean_test = pics[order[:n_test]]
        self.noisy_train = self._corrupt(self.clean_train, noise, rng)
        self.noisy_test = self._corrupt(self.clean_test, noise, rng)

    @staticmethod
    def _corrupt(x, level, rng):
        top = x.max()
        return np.clip(x + rng.normal(0, level * top, x.shape), 0, top).astype("float32")


def make_autoencoder():
    inp = keras.Input((8, 8, 1))
    h = layers.Conv2D(32, 3, padding="same", activation="relu")(inp)
    h = layers.MaxPooling2D(2)(h)
    h = layers.Conv2D(32, 3, padding="same", activation="relu")(h)
    h = layers.Conv2DTranspose(32, 3, strides=2, padding="same", activation="relu")(h)
    out = layers.Conv2D(1, 3, padding="same", activation="sigmoid")(h)
    return keras.Model(inp, out, name="denoiser")


def r2(target, estimate):
    return 1 - np.sum((target - estimate) ** 2) / np.sum((target - target.mean()) ** 2)


if __name__ == "__main__":
    keras.utils.set_random_seed(42)
    src = DigitSource()
    ae = make_autoencoder()
    ae.compile(optimizer=keras.optimizers.Adam(2e-3), loss="binary_crossentropy")
    ae.fit(
        src.noisy_train,
        src.clean_train,
        epochs=12,
        batch_size=64,
        shuffle=True,
        validation_data=(src.noisy_test, src.clean_test),
        verbose=2,
    )
    restored = ae.predict(src.noisy_test, verbose=0)
    print("R2 of noisy input   :", round(float(r2(src.clean_test, src.noisy_test)), 4))
    print("R2 of reconstruction:", round(float(r2(src.clean_test, restored)), 4))
