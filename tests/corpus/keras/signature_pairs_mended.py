"""Signature verification: writer classification first, then a pair model on the same trunk."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import keras
from keras import layers
from sklearn.metrics import roc_auc_score

keras.utils.set_random_seed(29)
rng = np.random.default_rng(29)
WRITERS, PER_WRITER, LENGTH = 130, 16, 40

t = np.linspace(0, 1, LENGTH)


def strokes(style):
    amp, freq, phase = style
    wobble = rng.normal(0, 0.25, amp.shape)
    curve = ((amp * (1 + wobble))[..., None] * np.sin(2 * np.pi * freq[..., None] * t + phase[..., None])).sum(1)
    return (curve + rng.normal(0, 0.35, curve.shape)).T


styles = [(rng.uniform(.3, 1, (2, 3)), rng.uniform(.5, 3, (2, 3)), rng.uniform(0, 6.28, (2, 3))) for _ in range(WRITERS)]
signatures = np.stack([[strokes(s) for _ in range(PER_WRITER)] for s in styles]).astype("float32")
train_w, test_w = np.arange(100), np.arange(100, WRITERS)


def draw_pairs(writers, n):
    same = rng.random(n) < 0.5
    a = rng.choice(writers, n)
    b = np.where(same, a, (a - writers[0] + rng.integers(1, len(writers), n)) % len(writers) + writers[0])
    left = signatures[a, rng.integers(0, PER_WRITER, n)]
    right = signatures[b, rng.integers(0, PER_WRITER, n)]
    return (left, right), same.astype("float32")[:, None]


def build_trunk():
    return keras.Sequential([
        layers.Input((LENGTH, 2)),
        layers.Conv1D(32, 5, activation="relu", padding="same"),
        layers.MaxPooling1D(2),
        layers.Conv1D(48, 5, activation="relu", padding="same"),
        layers.MaxPooling1D(2),
        layers.Flatten(),
        layers.Dense(32),
    ], name="trunk")


# phase 1
trunk = build_trunk()
writer_model = keras.Sequential([trunk, layers.ReLU(), layers.Dense(len(train_w))])
writer_model.compile(optimizer=keras.optimizers.Adam(2e-3),
                     loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
x1 = signatures[train_w].reshape(-1, LENGTH, 2)
y1 = np.repeat(train_w, PER_WRITER)
writer_model.fit(x1, y1, epochs=8, batch_size=32, verbose=2)

# phase 2
left, right = keras.Input((LENGTH, 2)), keras.Input((LENGTH, 2))
gap = layers.Subtract()([trunk(left), trunk(right)])
gap = layers.Lambda(lambda d: keras.ops.log1p(keras.ops.square(d)))(gap)
logit = layers.Dense(1)(layers.Dense(16, activation="relu")(gap))
pair_model = keras.Model([left, right], logit)
pair_model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.AUC(name="auc", from_logits=True)],
)
pairs, same = draw_pairs(train_w, 5000)
val_pairs, val_same = draw_pairs(test_w, 1500)
pair_model.fit(pairs, same, validation_data=(val_pairs, val_same), epochs=5, batch_size=64, verbose=2)

loss, auc = pair_model.evaluate(val_pairs, val_same, verbose=0)
scores = pair_model.predict(val_pairs, verbose=0)[:, 0]
print("reported loss %.3f auc %.3f" % (loss, auc))
print("auc from the ranking of the scores %.3f" % roc_auc_score(val_same[:, 0], scores))
print("share of scores outside 0..1: %.3f" % np.mean((scores < 0) | (scores > 1)))
