"""Estimate the level (dBFS) of a noisy sound clip from its spectrum."""
import keras
import numpy as np
from keras import layers

RATE = 4000
CLIP = 512


def synth(rng):
    t = np.arange(CLIP) / RATE
    level = rng.uniform(-48.0, -3.0)
    wave = np.zeros(CLIP)
    for _ in range(rng.integers(1, 4)):
        wave += rng.uniform(0.3, 1.0) * np.sin(2 * np.pi * rng.uniform(80, 1800) * t + rng.uniform(0, 6.3))
    wave += 0.2 * rng.normal(size=CLIP)
    wave *= 10 ** (level / 20) / np.sqrt(np.mean(wave**2))
    return wave, level


def log_spectrum(wave):
    power = np.abs(np.fft.rfft(wave * np.hanning(CLIP)))[:256] ** 2
    bands = power.reshape(32, 8).sum(axis=1)
    return np.log10(bands + 1e-7)


class ClipSequence(keras.utils.PyDataset):
    def __init__(self, n_clips, batch_size, seed, **kwargs):
        super().__init__(**kwargs)
        rng = np.random.default_rng(seed)
        clips, levels = zip(*(synth(rng) for _ in range(n_clips)))
        self.x = np.stack([log_spectrum(c) for c in clips]).astype("float32")
        self.y = np.array(levels, dtype="float32")[:, None] / 10.0
        self.batch_size = batch_size
        self.rng = rng

    def __len__(self):
        return int(np.ceil(len(self.x) / self.batch_size))

    def __getitem__(self, i):
        rows = slice(i * self.batch_size, (i + 1) * self.batch_size)
        return self.x[rows], self.y[rows]

    def on_epoch_end(self):
        order = self.rng.permutation(len(self.x))
        self.x, self.y = self.x[order], self.y[order]


class LevelMeter:
    def __init__(self, widths=(64, 32)):
        norm = layers.BatchNormalization()
        stack = [keras.Input(shape=(32,)), norm]
        stack += [layers.Dense(w, activation="relu") for w in widths]
        stack.append(layers.Dense(1, name="level"))
        self.net = keras.Sequential(stack)
        self.net.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mae")

    def fit(self, train, valid, epochs):
        plateau = keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=4)
        return self.net.fit(
            train, validation_data=valid, epochs=epochs, callbacks=[plateau], verbose=0
        ).history

    def levels(self, data):
        return 10.0 * self.net.predict(data.x, verbose=0)[:, 0]


keras.utils.set_random_seed(21)
train = ClipSequence(2000, 32, seed=0)
valid = ClipSequence(400, 64, seed=1)
test = ClipSequence(400, 64, seed=2)

meter = LevelMeter()
log = meter.fit(train, valid, epochs=25)
for e in range(0, 25, 6):
    print(f"epoch {e:2d}  loss {log['loss'][e]:.4f}  val_loss {log['val_loss'][e]:.4f}")

truth = 10.0 * test.y[:, 0]
error = np.abs(meter.levels(test) - truth).mean()
baseline = np.abs(np.median(train.y) * 10.0 - truth).mean()
print(f"mean absolute error {error:.2f} dB  (constant median {baseline:.2f} dB)")
