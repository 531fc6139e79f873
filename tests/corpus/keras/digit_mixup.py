"""Digits with mixup, a frozen random first layer and class weights for a thinned-out class set."""
import numpy as np
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(42)


class Mixup(keras.utils.PyDataset):
    def __init__(self, x, y, weight, batch=32, alpha=0.4, seed=0):
        super().__init__()
        self.x, self.y, self.weight = x, y, weight
        self.batch, self.alpha = batch, alpha
        self.rng = np.random.default_rng(seed)
        self.order = self.rng.permutation(len(x))

    def __len__(self):
        return len(self.x) // self.batch

    def on_epoch_end(self):
        self.order = self.rng.permutation(len(self.x))

    def __getitem__(self, i):
        a = self.order[i * self.batch:(i + 1) * self.batch]
        b = self.rng.permutation(a)
        lam = self.rng.beta(self.alpha, self.alpha, size=len(a)).astype("float32")
        mix = lambda u: lam.reshape(-1, *[1] * (u.ndim - 1)) * u[a] + (1 - lam).reshape(-1, *[1] * (u.ndim - 1)) * u[b]
        return mix(self.x), mix(self.y), mix(self.weight)


def thin(x, y, rng):
    keep = np.ones(len(y), bool)
    for k in (1, 4, 8):
        idx = np.flatnonzero(y == k)
        keep[rng.choice(idx, int(0.75 * len(idx)), replace=False)] = False
    return x[keep], y[keep]


d = load_digits()
x = (d.images[..., None] / 8.0 - 1.0).astype("float32")
x_tr, x_te, y_tr, y_te = train_test_split(x, d.target, test_size=0.3, stratify=d.target, random_state=1)
x_tr, y_tr = thin(x_tr, y_tr, np.random.default_rng(7))
counts = np.bincount(y_tr)
weight = (counts.mean() / counts)[y_tr].astype("float32")
print("train counts:", counts)

first = layers.Conv2D(48, 3, padding="same", kernel_initializer="orthogonal", trainable=False)
model = keras.Sequential([
    keras.Input((8, 8, 1)),
    first,
    layers.LayerNormalization(),
    layers.Activation("relu"),
    layers.Conv2D(48, 3, strides=2, padding="same", activation="relu"),
    layers.Conv2D(64, 3, strides=2, padding="same", activation="relu"),
    layers.Flatten(),
    layers.Dense(10, activation="softmax"),
])
model.compile(optimizer=keras.optimizers.Lion(4e-4, weight_decay=1e-2), loss="categorical_crossentropy", metrics=["accuracy"])
hist = model.fit(Mixup(x_tr, keras.utils.to_categorical(y_tr, 10), weight), epochs=24, verbose=0,
                 validation_data=(x_te[:150], keras.utils.to_categorical(y_te[:150], 10)))
for e in range(5, 24, 6):
    print(f"epoch {e + 1} train loss {hist.history['loss'][e]:.3f} acc {hist.history['accuracy'][e]:.3f} "
          f"val loss {hist.history['val_loss'][e]:.3f} acc {hist.history['val_accuracy'][e]:.3f}")
pred = model.predict(x_te[150:], verbose=0).argmax(1)
print(f"test balanced accuracy {balanced_accuracy_score(y_te[150:], pred):.3f} (chance 0.100)")
