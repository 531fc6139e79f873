"""Classify short synthetic bird calls from the raw waveform."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import math
import numpy as np
import keras
from keras import layers

RATE = 4000
SECONDS = 0.25
SPECIES = ["rising", "falling", "trill", "double", "flat"]
BASE_LR = 6e-3
MAX_EPOCHS = 30


def call(kind, rng):
    t = np.arange(int(RATE * SECONDS)) / RATE
    f0 = rng.uniform(500, 900)
    span = rng.uniform(200, 400)
    u = t / SECONDS
    if kind == "rising":
        f = f0 + span * u
    elif kind == "falling":
        f = f0 + span * (1 - u)
    elif kind == "trill":
        f = f0 + span / 2 + 0.3 * span * np.sin(2 * np.pi * rng.uniform(20, 35) * t)
    else:
        f = np.full_like(t, f0 + span / 2)
    wave = np.sin(2 * np.pi * np.cumsum(f) / RATE + rng.uniform(0, 6.28))
    if kind == "double":
        wave *= (np.abs(u - 0.5) > rng.uniform(0.08, 0.15))
    wave *= rng.uniform(0.5, 1.0)
    return wave + rng.normal(0, 0.1, len(t))


def dataset(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(SPECIES), n)
    x = np.stack([call(SPECIES[k], rng) for k in y]).astype("float32")[..., None]
    return x, y


def network():
    return keras.Sequential([
        keras.Input((int(RATE * SECONDS), 1)),
        layers.Conv1D(32, 32, strides=4, activation="relu"),
        layers.Conv1D(32, 8, strides=2, activation="relu"),
        layers.Conv1D(64, 8, strides=2, activation="relu"),
        layers.Conv1D(64, 8, strides=2, activation="relu"),
        layers.Flatten(),
        layers.Dense(32, activation="relu"),
        layers.Dense(len(SPECIES), activation="softmax"),
    ])


def decay(epoch, lr):
    """Smooth exponential decay, a tenth per epoch."""
    return lr * math.exp(-0.1 * epoch)


class LrLog(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.values = []

    def on_epoch_begin(self, epoch, logs=None):
        self.values.append(float(self.model.optimizer.learning_rate))


def main():
    keras.utils.set_random_seed(13)
    x_tr, y_tr = dataset(900, 1)
    x_va, y_va = dataset(250, 2)
    x_te, y_te = dataset(500, 3)
    model = network()
    model.compile(keras.optimizers.SGD(BASE_LR, momentum=0.9), "sparse_categorical_crossentropy",
                  metrics=["accuracy"])
    lr_log = LrLog()
    hist = model.fit(
        x_tr, y_tr, validation_data=(x_va, y_va), epochs=MAX_EPOCHS, batch_size=32, verbose=2,
        callbacks=[keras.callbacks.LearningRateScheduler(decay), lr_log,
                   keras.callbacks.EarlyStopping(monitor="val_loss", patience=4,
                                                 restore_best_weights=True)])
    loss, acc = model.evaluate(x_te, y_te, verbose=0)
    print(f"stopped after {len(hist.epoch)} epochs, last learning rate {lr_log.values[-1]:.2e}")
    print(f"test loss {loss:.4f}  test accuracy {acc:.4f}  (chance {1 / len(SPECIES):.2f})")


if __name__ == "__main__":
    main()
