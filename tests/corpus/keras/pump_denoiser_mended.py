import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.metrics import roc_auc_score

keras.utils.set_random_seed(17)
rng = np.random.default_rng(17)
WINDOW = 64
BATCH = 32


def strokes(n, faulty=False):
    t = np.arange(WINDOW) / WINDOW
    phase = rng.uniform(0, 1, (n, 1))
    level = rng.uniform(0.25, 0.4, (n, 1))
    wave = np.sin(2 * np.pi * (3 * t + phase)) + 0.4 * np.sin(2 * np.pi * (6 * t + 2 * phase))
    if faulty:
        wave = np.sin(2 * np.pi * (3 * t + phase)) + 0.4 * np.sin(2 * np.pi * (8 * t + phase))
    pressure = 0.5 + level * wave / 1.4 + rng.normal(0, 0.02, (n, WINDOW))
    return np.clip(pressure, 0.0, 1.0).astype("float32")


class WindowFeed:
    def __init__(self, windows, noise=0.1):
        self.windows = windows
        self.noise = noise
        self.rng = np.random.default_rng(0)

    def __call__(self):
        for i in self.rng.permutation(len(self.windows)):
            clean = self.windows[i]
            dirty = clean + self.rng.normal(0, self.noise, clean.shape).astype("float32")
            yield dirty, clean

    def dataset(self):
        ds = tf.data.Dataset.from_generator(
            self,
            output_types=(tf.float32, tf.float32),
            output_shapes=((WINDOW,), (WINDOW,)),
        )
        return ds.batch(BATCH, drop_remainder=True).repeat().prefetch(1)


def residual(model, x):
    return np.mean((model.predict(x, verbose=0, batch_size=256) - x) ** 2, axis=1)


class DetectionReport(keras.callbacks.Callback):
    def __init__(self, normal, faulty, every=5):
        super().__init__()
        self.x = np.concatenate([normal, faulty])
        self.y = np.r_[np.zeros(len(normal)), np.ones(len(faulty))]
        self.every = every
        self.auc = None

    def on_epoch_end(self, epoch, logs=None):
        if (epoch + 1) % self.every == 0:
            self.auc = roc_auc_score(self.y, residual(self.model, self.x))
            print(f"epoch {epoch + 1} loss {logs['loss']:.5f} detection AUC {self.auc:.3f}")


def build():
    return keras.Sequential([
        layers.Input((WINDOW,)),
        layers.Dense(48, activation="relu"),
        layers.Dense(6, activation="linear", name="code"),
        layers.Dense(48, activation="relu"),
        layers.Dense(WINDOW),
    ])


train = strokes(1500)
valid = strokes(200)
report = DetectionReport(strokes(300), strokes(300, faulty=True))

model = build()
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
model.fit(
    WindowFeed(train).dataset(),
    epochs=20,
    steps_per_epoch=len(train) // BATCH,
    verbose=0,
    callbacks=[report, keras.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.5, patience=3)],
)

err = residual(model, valid).mean()
flat = np.mean((valid - valid.mean()) ** 2)
print(f"reconstruction mse {err:.5f}  flat-line mse {flat:.5f}")
print(f"final detection AUC {report.auc:.3f}")
