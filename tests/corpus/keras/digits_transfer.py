"""Two-stage transfer learning.

Stage 0 trains an encoder on a synthetic texture task (orientation of gratings),
stage 1 puts a digit head on top of the frozen encoder, stage 2 fine-tunes
everything with few labelled digits.
"""
import os

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

SEED = 5
N_LABELLED = 600
ORIENTATIONS = 8


class EpochPrinter(keras.callbacks.Callback):
    def __init__(self, tag, every=5):
        super().__init__()
        self.tag, self.every = tag, every

    def on_epoch_end(self, epoch, logs=None):
        if (epoch + 1) % self.every == 0:
            print(f"[{self.tag}] epoch {epoch + 1:3d} " +
                  " ".join(f"{k}={v:.4f}" for k, v in logs.items()))


def gratings(n, rng):
    yy, xx = np.mgrid[0:8, 0:8]
    k = rng.integers(0, ORIENTATIONS, n)
    th = np.pi * k / ORIENTATIONS + rng.normal(0, 0.05, n)
    freq = rng.uniform(0.8, 1.6, n)
    phase = rng.uniform(0, 2 * np.pi, n)
    proj = np.cos(th)[:, None, None] * xx + np.sin(th)[:, None, None] * yy
    img = 0.5 + 0.5 * np.sin(freq[:, None, None] * proj + phase[:, None, None])
    img += rng.normal(0, 0.1, img.shape)
    return img[..., None].astype("float32"), k


def make_encoder():
    return keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(24, 3, padding="same", activation="relu"),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(48, 3, padding="same", activation="relu"),
            layers.Flatten(),
            layers.Dense(16, activation="relu"),
        ],
        name="encoder",
    )


def pretrain(rng):
    encoder = make_encoder()
    net = keras.Sequential([encoder, layers.Dense(ORIENTATIONS, activation="softmax")])
    net.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    x, y = gratings(2000, rng)
    net.fit(x, y, epochs=6, batch_size=64, validation_split=0.1, verbose=0,
            callbacks=[EpochPrinter("gratings", 3)])
    return encoder


def load_target():
    x, y = load_digits(return_X_y=True)
    x = (x / 16.0).reshape(-1, 8, 8, 1).astype("float32")
    x_tr, x_te, y_tr, y_te = train_test_split(
        x, y, train_size=N_LABELLED, stratify=y, random_state=SEED)
    x_va, x_te, y_va, y_te = train_test_split(
        x_te, y_te, train_size=300, stratify=y_te, random_state=SEED)
    return (x_tr, y_tr), (x_va, y_va), (x_te, y_te)


def main():
    os.makedirs("out", exist_ok=True)
    keras.utils.set_random_seed(SEED)
    encoder = pretrain(np.random.default_rng(SEED))
    train, val, test = load_target()

    # stage 1: only the head
    encoder.trainable = False
    inputs = keras.Input((8, 8, 1))
    h = encoder(inputs, training=False)
    outputs = layers.Dense(10, activation="softmax", name="digit_head")(h)
    model = keras.Model(inputs, outputs)
    model.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    model.fit(*train, validation_data=val, epochs=10, batch_size=32, verbose=0,
              callbacks=[EpochPrinter("head")])
    print("after stage 1: test acc %.3f" % model.evaluate(*test, verbose=0)[1])

    # stage 2: fine-tune the whole network
    encoder.trainable = True
    print("trainable weights:", len(model.trainable_weights))
    model.fit(*train, validation_data=val, epochs=20, batch_size=32, verbose=0,
              callbacks=[EpochPrinter("finetune")])
    loss, acc = model.evaluate(*test, verbose=0)
    print("after stage 2: test loss %.3f acc %.3f (chance 0.100)" % (loss, acc))
    model.save("out/digits_finetuned.keras")


if __name__ == "__main__":
    main()
