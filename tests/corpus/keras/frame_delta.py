import numpy as np
import keras
from keras import layers

SIDE = 24


def render(positions, radii):
    yy, xx = np.mgrid[:SIDE, :SIDE]
    frame = np.full((SIDE, SIDE), 20.0)
    for (y, x), r in zip(positions, radii):
        frame += 190 * np.exp(-((yy - y) ** 2 + (xx - x) ** 2) / (2 * r * r))
    return np.clip(frame, 0, 255).astype(np.uint8)


def record(rng):
    k = rng.integers(1, 4)
    start = rng.uniform(4, SIDE - 4, (k, 2))
    speed = rng.uniform(-2.0, 2.0, (k, 2))
    radii = rng.uniform(1.5, 2.6, k)
    return np.stack([render(start + t * speed, radii) for t in range(3)])


class ClipFeed(keras.utils.PyDataset):
    def __init__(self, clips, batch_size, seed=None):
        super().__init__()
        self.clips = clips
        self.batch_size = batch_size
        self.rng = np.random.default_rng(seed) if seed is not None else None
        self.order = np.arange(len(clips))

    def __len__(self):
        return len(self.clips) // self.batch_size

    def __getitem__(self, i):
        ids = self.order[i * self.batch_size:(i + 1) * self.batch_size]
        clips = self.clips[ids]
        context = np.moveaxis(clips[:, :2], 1, -1).astype("float32") / 255.0
        delta = (clips[:, 2] - clips[:, 1]).astype("float32") / 255.0
        return context, delta[..., None]

    def on_epoch_end(self):
        if self.rng is not None:
            self.rng.shuffle(self.order)


class DeltaNet(keras.Model):
    def __init__(self, width):
        super().__init__()
        self.body = [layers.Conv2D(width, 5, padding="same", activation="relu") for _ in range(3)]
        self.out = layers.Conv2D(1, 3, padding="same")

    def call(self, x):
        h = x
        for block in self.body:
            h = block(h)
        return self.out(h)


def rebuild(model, clips):
    context = np.moveaxis(clips[:, :2], 1, -1).astype("float32") / 255.0
    delta = model.predict(context, batch_size=64, verbose=0)[..., 0]
    return np.clip(context[..., 1] + delta, 0, 1)


def psnr(a, b):
    return -10 * np.log10(np.mean((a - b) ** 2))


def run():
    keras.utils.set_random_seed(12)
    rng = np.random.default_rng(12)
    clips = np.stack([record(rng) for _ in range(1500)])
    train, val, test = clips[:1100], clips[1100:1200], clips[1200:]

    model = DeltaNet(16)
    model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
    model.fit(
        ClipFeed(train, 32, seed=3),
        validation_data=ClipFeed(val, 32),
        epochs=12,
        callbacks=[keras.callbacks.ReduceLROnPlateau(patience=2, factor=0.5)],
        verbose=2,
    )

    truth = test[:, 2].astype("float32") / 255.0
    last = test[:, 1].astype("float32") / 255.0
    print(f"psnr of predicted next frame {psnr(rebuild(model, test), truth):.2f} dB")
    print(f"psnr of repeating the last frame {psnr(last, truth):.2f} dB")


if __name__ == "__main__":
    run()
