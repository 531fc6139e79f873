"""Digits with mixup from a PyDataset, Lion and averaged weights."""
import keras
import numpy as np
from keras import layers, ops
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(12)

d = load_digits()
x = (d.images / 16.0).astype("float32")[..., None]
x_tr, x_te, y_tr, y_te = train_test_split(x, d.target, test_size=0.25, random_state=12,
                                          stratify=d.target)
onehot_tr = np.eye(10, dtype="float32")[y_tr]
onehot_te = np.eye(10, dtype="float32")[y_te]


class MixupBatches(keras.utils.PyDataset):
    """Every batch is blended with a shuffled copy of itself, images and targets alike."""

    def __init__(self, x, y, batch=32, alpha=0.4, seed=0):
        super().__init__(workers=1)
        self.x, self.y, self.batch, self.alpha = x, y, batch, alpha
        self.rng = np.random.default_rng(seed)
        self.order = self.rng.permutation(len(x))

    def __len__(self):
        return len(self.x) // self.batch

    def __getitem__(self, i):
        idx = self.order[i * self.batch:(i + 1) * self.batch]
        xb, yb = self.x[idx], self.y[idx]
        lam = self.rng.beta(self.alpha, self.alpha, size=len(idx)).astype("float32")
        perm = self.rng.permutation(len(idx))
        lx, ly = lam[:, None, None, None], lam[:, None]
        return lx * xb + (1 - lx) * xb[perm], ly * yb + (1 - ly) * yb[perm]

    def on_epoch_end(self):
        self.order = self.rng.permutation(len(self.x))


class ScaledCosineHead(layers.Layer):
    """Logits are scaled cosines between the feature and one direction per class."""

    def __init__(self, classes, scale=12.0, **kw):
        super().__init__(**kw)
        self.classes, self.scale = classes, scale

    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], self.classes), initializer="glorot_normal")

    def call(self, f):
        f = ops.normalize(f, axis=-1)
        w = ops.normalize(self.w, axis=0)
        return self.scale * ops.matmul(f, w)


inp = keras.Input((8, 8, 1))
h = layers.Conv2D(24, 3, padding="same", use_bias=False)(inp)
h = layers.BatchNormalization()(h)
h = layers.Activation("swish")(h)
h = layers.MaxPooling2D()(h)
h = layers.Conv2D(48, 3, padding="same", activation="swish")(h)
h = layers.Flatten()(h)
h = layers.Dropout(0.3)(h)
h = layers.Dense(48)(h)
model = keras.Model(inp, ScaledCosineHead(10)(h))

EPOCHS = 18
train = MixupBatches(x_tr, onehot_tr)
rate = keras.optimizers.schedules.CosineDecay(4e-4, EPOCHS * len(train), alpha=0.02)
model.compile(
    optimizer=keras.optimizers.Lion(rate, weight_decay=0.05, use_ema=True, ema_momentum=0.98),
    loss=keras.losses.CategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
swap = keras.callbacks.SwapEMAWeights(swap_on_epoch=True)
model.fit(train, epochs=EPOCHS, validation_data=(x_te, onehot_te), verbose=2, callbacks=[swap])

loss, acc = model.evaluate(x_te, onehot_te, verbose=0)
print(f"test accuracy {acc:.3f} loss {loss:.3f} (majority {np.bincount(y_te).max() / len(y_te):.3f})")
