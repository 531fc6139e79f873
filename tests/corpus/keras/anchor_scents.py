import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import keras
from keras import layers, ops
from sklearn.neighbors import KNeighborsClassifier

keras.utils.set_random_seed(9)
N_SCENTS, SENSORS = 24, 40


def sniff(labels, rng, prints):
    base = prints[labels]
    drift = rng.normal(0, 5.0, (len(labels), 1)) * np.linspace(-1, 1, SENSORS)
    gain = rng.uniform(0.5, 1.8, (len(labels), 1))
    return (base * gain + drift + rng.normal(0, 0.5, base.shape)).astype("float32")


def make_triplets(X, y, n, rng):
    by_class = {k: np.flatnonzero(y == k) for k in np.unique(y)}
    classes = np.array(sorted(by_class))
    a_cls = rng.choice(classes, n)
    n_cls = (a_cls + rng.integers(1, len(classes), n)) % len(classes)
    a = np.array([rng.choice(by_class[classes[k]]) for k in a_cls])
    p = np.array([rng.choice(by_class[classes[k]]) for k in a_cls])
    q = np.array([rng.choice(by_class[classes[k]]) for k in n_cls])
    return [X[a], X[p], X[q]]


def encoder():
    inp = keras.Input((SENSORS,))
    h = layers.Dense(96, activation="relu")(inp)
    h = layers.Dense(64, activation="relu")(h)
    h = layers.Dense(16)(h)
    return keras.Model(inp, layers.UnitNormalization()(h), name="encoder")


def hinge_output(y_true, y_pred):
    return ops.mean(y_pred, axis=-1)


rng = np.random.default_rng(9)
prints = rng.normal(0, 1, (N_SCENTS, SENSORS))
labels = rng.integers(0, N_SCENTS, 3000)
X = sniff(labels, rng, prints)
X_tr, y_tr, X_te, y_te = X[:2200], labels[:2200], X[2200:], labels[2200:]

enc = encoder()
ins = [keras.Input((SENSORS,), name=n) for n in ("anchor", "positive", "negative")]
ea, ep, en = [enc(i) for i in ins]
gap = ops.sum(ops.square(ea - ep), axis=-1, keepdims=True) - ops.sum(ops.square(ea - en), axis=-1, keepdims=True)
model = keras.Model(ins, ops.relu(gap + 0.4))
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=hinge_output)


class NeighbourAccuracy(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        knn = KNeighborsClassifier(5).fit(enc.predict(X_tr, verbose=0), y_tr)
        logs["knn"] = knn.score(enc.predict(X_te, verbose=0), y_te)
        print(f"  5-nn accuracy {logs['knn']:.3f}")


triplets = make_triplets(X_tr, y_tr, 8000, rng)
dummy = np.zeros((8000, 1), "float32")
hist = model.fit(triplets, dummy, epochs=8, batch_size=64, verbose=2, callbacks=[NeighbourAccuracy()])

raw = KNeighborsClassifier(5).fit(X_tr, y_tr).score(X_te, y_te)
knn = KNeighborsClassifier(5).fit(enc.predict(X_tr, verbose=0), y_tr)
print(f"5-nn accuracy raw signals {raw:.3f}, embedding {knn.score(enc.predict(X_te, verbose=0), y_te):.3f}, "
      f"chance {1 / N_SCENTS:.3f}")
