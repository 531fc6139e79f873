"""Echo classification on log-spectrograms with SpecAugment (Park et al. 2019), time and frequency masking only."""
import keras
import numpy as np
from keras import layers

FRAMES, BINS = 48, 32
CLASSES = ("rock", "wreck", "shoal", "whale")
rng = np.random.default_rng(8)
keras.utils.set_random_seed(8)


def ping(kind):
    t = np.arange(FRAMES)[:, None]
    f = np.arange(BINS)[None, :]
    onset = rng.integers(4, 16)
    f0 = rng.uniform(8, 22)
    decay = np.exp(-np.maximum(t - onset, 0) / rng.uniform(6, 10)) * (t >= onset)
    if kind == 0:
        spec = decay * np.exp(-((f - f0) ** 2) / 8)
    elif kind == 1:
        spec = decay * sum(np.exp(-((f - f0 + s) ** 2) / 3) for s in (-6, 0, 6))
    elif kind == 2:
        spec = 0.6 * np.exp(-((t - onset - 14) ** 2) / 90) * np.exp(-((f - f0) ** 2) / 30)
    else:
        track = f0 - 6 + 12 * np.clip((t - onset) / 24, 0, 1)
        spec = (t >= onset) * (t < onset + 26) * np.exp(-((f - track) ** 2) / 5)
    noisy = np.log(spec + 0.05 * rng.gamma(1.0, 2.0, (FRAMES, BINS)) + 1e-2)
    return noisy


def collect(n):
    labels = rng.integers(0, len(CLASSES), n)
    specs = np.stack([ping(k) for k in labels]).astype("float32")
    return specs, labels


class SpecAugment(keras.utils.PyDataset):
    def __init__(self, specs, labels, batch=32, t_max=10, f_max=7, n_masks=2, **kw):
        super().__init__(**kw)
        self.specs, self.labels = specs, labels
        self.batch, self.t_max, self.f_max, self.n_masks = batch, t_max, f_max, n_masks
        self.gen = np.random.default_rng(0)

    def __len__(self):
        return int(np.ceil(len(self.specs) / self.batch))

    def __getitem__(self, i):
        rows = slice(i * self.batch, (i + 1) * self.batch)
        block, target = self.specs[rows], self.labels[rows]
        for spec in block:
            for _ in range(self.n_masks):
                w = self.gen.integers(0, self.t_max + 1)
                t0 = self.gen.integers(0, FRAMES - w + 1)
                spec[t0:t0 + w, :] = 0.0
                h = self.gen.integers(0, self.f_max + 1)
                f0 = self.gen.integers(0, BINS - h + 1)
                spec[:, f0:f0 + h] = 0.0
        return block[..., None], target


def residual(h, width):
    skip = layers.Conv2D(width, 1, strides=2)(h)
    h = layers.Conv2D(width, 3, strides=2, padding="same", use_bias=False)(h)
    h = layers.BatchNormalization(momentum=0.9)(h)
    h = layers.Activation("relu")(h)
    return layers.Add()([h, skip])


specs, labels = collect(1600)
mean, std = specs[:1280].mean(), specs[:1280].std()
specs = (specs - mean) / std
train = SpecAugment(specs[:1280], labels[:1280])
x_val, y_val = specs[1280:, ..., None], labels[1280:]

inputs = keras.Input((FRAMES, BINS, 1))
h = residual(inputs, 12)
h = residual(h, 24)
h = residual(h, 32)
h = layers.GlobalAveragePooling2D()(h)
outputs = layers.Dense(len(CLASSES))(layers.Dropout(0.2)(h))
model = keras.Model(inputs, outputs)
model.compile(
    optimizer=keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)

plateau = keras.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.5, patience=4)
model.fit(train, validation_data=(x_val, y_val), epochs=14, callbacks=[plateau], verbose=2)

pred = model.predict(x_val, verbose=0).argmax(-1)
for k, name in enumerate(CLASSES):
    print(f"{name:6s} recall {np.mean(pred[y_val == k] == k):.3f}")
print(f"accuracy {np.mean(pred == y_val):.3f}")
