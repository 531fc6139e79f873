"""Siamese verification of digits with legacy tf_keras; evaluation uses averaged weights."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import tf_keras as keras
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from tf_keras import layers


def encoder():
    return keras.Sequential([
        keras.Input((8, 8, 1)),
        layers.Conv2D(24, 3, padding="same", use_bias=False), layers.BatchNormalization(momentum=0.9), layers.ReLU(),
        layers.Conv2D(32, 3, strides=2, padding="same", use_bias=False), layers.BatchNormalization(momentum=0.9),
        layers.ReLU(), layers.Flatten(), layers.Dense(32)], name="encoder")


def twins():
    enc = encoder()
    a, b = keras.Input((8, 8, 1)), keras.Input((8, 8, 1))
    d = layers.Lambda(lambda t: tf.reduce_sum(tf.square(t[0] - t[1]), -1, keepdims=True))([enc(a), enc(b)])
    out = layers.Dense(1, activation="sigmoid",
                       kernel_initializer=keras.initializers.Constant(-0.1), bias_initializer="ones")(d)
    return keras.Model([a, b], out)


class Averaged(keras.callbacks.Callback):
    """Keeps a slow copy: trainable weights averaged, moving statistics taken over as they are."""

    def __init__(self, slow, decay=0.97):
        super().__init__()
        self.slow, self.decay, self.n = slow, decay, 0

    def on_train_batch_end(self, batch, logs=None):
        self.n += 1
        d = min(self.decay, self.n / (self.n + 9))
        for s, w in zip(self.slow.trainable_variables, self.model.trainable_variables):
            s.assign(d * s + (1 - d) * w)
        for s, w in zip(self.slow.non_trainable_variables, self.model.non_trainable_variables):
            s.assign(w)


class PairSequence(keras.utils.Sequence):
    """Half of every batch: same digit.  Other half: different digits."""

    def __init__(self, x, y, classes, batches=45, half=24, seed=0, **kw):
        super().__init__(**kw)
        self.x, self.batches, self.half = x, batches, half
        self.by = {c: np.flatnonzero(y == c) for c in classes}
        self.classes = np.array(classes)
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return self.batches

    def __getitem__(self, _):
        left, right = [], []
        for k in range(2 * self.half):
            if k < self.half:
                c = d = self.rng.choice(self.classes)
            else:
                c, d = self.rng.choice(self.classes, 2, replace=False)
            left.append(self.rng.choice(self.by[c]))
            right.append(self.rng.choice(self.by[d]))
        t = np.repeat([1.0, 0.0], self.half).astype("float32")[:, None]
        return (self.x[left], self.x[right]), t


def main():
    keras.utils.set_random_seed(9)
    data = load_digits()
    x = (data.images[..., None] / 16).astype("float32")
    y = data.target
    order = np.random.default_rng(0).permutation(len(y))
    tr, te = order[:1250], order[1250:]

    model, slow = twins(), twins()
    slow.set_weights(model.get_weights())
    train = PairSequence(x[tr], y[tr], list(range(10)))
    check = PairSequence(x[te], y[te], list(range(10)), batches=15, seed=77)
    parts = [check[i] for i in range(len(check))]
    va = np.concatenate([p[0][0] for p in parts])
    vb = np.concatenate([p[0][1] for p in parts])
    vt = np.concatenate([p[1] for p in parts])

    raw = 1 - np.square(va - vb).sum((1, 2, 3))
    model.compile(keras.optimizers.legacy.Adam(2e-3), "binary_crossentropy", metrics=["accuracy"])
    slow.compile(loss="binary_crossentropy", metrics=["accuracy"])
    model.fit(train, epochs=8, verbose=2, validation_data=([va, vb], vt), callbacks=[Averaged(slow)])
    for name, m in (("live", model), ("averaged", slow)):
        _, acc = m.evaluate([va, vb], vt, verbose=0)
        auc = roc_auc_score(vt[:, 0], m.predict([va, vb], verbose=0)[:, 0])
        print(f"{name:9s} held-out pairs: accuracy {acc:.3f} auc {auc:.3f}")
    print(f"pixel distance auc {roc_auc_score(vt[:, 0], raw):.3f}, chance accuracy 0.500")


if __name__ == "__main__":
    main()
