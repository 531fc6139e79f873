"""Attention-based deep multiple instance learning (Ilse, Tomczak, Welling 2018) on synthetic slides."""
import os

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
from keras import layers, ops

SEED = 13
TILES = 20
FEATURES = 24
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

direction = rng.normal(size=FEATURES)
direction /= np.linalg.norm(direction)


def slides(n):
    """A slide is positive if one to three of its tiles carry the lesion pattern."""
    label = rng.integers(0, 2, n)
    tiles = rng.normal(size=(n, TILES, FEATURES))
    lesion = np.zeros((n, TILES), dtype=bool)
    for i in np.flatnonzero(label):
        where = rng.choice(TILES, rng.integers(1, 4), replace=False)
        tiles[i, where] += 5.0 * direction
        lesion[i, where] = True
    return tiles.astype("float32"), label.astype("float32"), lesion


class GatedAttentionPooling(layers.Layer):
    def __init__(self, width, **kwargs):
        super().__init__(**kwargs)
        self.gate_v = layers.Dense(width, activation="tanh")
        self.gate_u = layers.Dense(width, activation="sigmoid")
        self.score = layers.Dense(1)

    def weights_of(self, h):
        scores = self.score(self.gate_v(h) * self.gate_u(h))
        return ops.softmax(scores, axis=0)

    def call(self, h):
        return ops.sum(self.weights_of(h) * h, axis=1)


class MILNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = keras.Sequential([layers.Dense(48, activation="relu"), layers.Dense(32, activation="relu")])
        self.pool = GatedAttentionPooling(24)
        self.head = layers.Dense(1)

    def call(self, tiles):
        return self.head(self.pool(self.embed(tiles)))


x_train, y_train, _ = slides(1600)
x_test, y_test, lesion = slides(200)

model = MILNet()
model.compile(
    optimizer=keras.optimizers.Adam(2e-3, weight_decay=1e-4),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.BinaryAccuracy(threshold=0.0, name="acc")],
)
model.fit(
    x_train,
    y_train[:, None],
    batch_size=32,
    epochs=20,
    validation_split=0.15,
    verbose=2,
    callbacks=[keras.callbacks.ReduceLROnPlateau(factor=0.5, patience=4, min_lr=1e-4)],
)

# slides arrive one at a time in the clinic
hits, found = 0, []
for tiles, label, marks in zip(x_test, y_test, lesion):
    logit = float(model(tiles[None])[0, 0])
    hits += int((logit > 0) == bool(label))
    if label:
        attention = ops.convert_to_numpy(model.pool.weights_of(model.embed(tiles[None])))[0, :, 0]
        found.append(marks[attention.argmax()])
print(f"slide accuracy {hits / len(y_test):.3f}, top tile is a lesion in {np.mean(found):.3f} of the positive slides")
