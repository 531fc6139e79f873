"""Activity recognition from wearable sensors across two clinics.

Clinic A is labelled, clinic B is not (its labels serve only for the final score).
The encoder is trained together with a clinic classifier behind a reversal layer
(Ganin & Lempitsky, 2015).
"""
import numpy as np
import tensorflow as tf
import keras
from keras import layers, ops

CLASSES = 5
N_FEAT = 40


def clinic(n, rng, basis, quirk, site):
    """Movement features plus device channels, which the two clinics set up differently."""
    y = rng.integers(0, CLASSES, n)
    core = basis[y] + rng.normal(0, 1.0, (n, basis.shape[1]))
    if site == "A":                       # mounting differs between exercise stations
        station = np.where(rng.random(n) < .95, y, rng.integers(0, CLASSES, n))
        device = quirk[station]
    else:                                 # everybody wears the same belt
        device = np.tile(1.5 * quirk[2], (n, 1))
    device = device + rng.normal(0, .7, (n, quirk.shape[1]))
    return np.hstack([core, device]).astype("float32"), y.astype("int32")


@tf.custom_gradient
def reverse(x, strength):
    def grad(dy):
        return -strength * dy, None
    return tf.identity(x), grad


class GradientReversal(layers.Layer):
    """Identity on the way forward; `strength` is ramped up by the callback below."""

    def __init__(self, **kw):
        super().__init__(**kw)
        self.strength = self.add_weight(name="strength", shape=(), initializer="zeros",
                                        trainable=False)

    def call(self, x):
        return reverse(x, tf.convert_to_tensor(self.strength))


class RampStrength(keras.callbacks.Callback):
    def __init__(self, layer, epochs, top=1.0):
        super().__init__()
        self.layer, self.epochs, self.top = layer, epochs, top

    def on_epoch_begin(self, epoch, logs=None):
        p = epoch / self.epochs
        self.layer.strength.assign(self.top * (2.0 / (1.0 + np.exp(-8.0 * p)) - 1.0))


def build():
    inp = keras.Input((N_FEAT,))
    z = layers.Dense(64, activation="relu")(inp)
    z = layers.Dense(32, activation="relu", name="features")(z)
    activity = layers.Dense(CLASSES, activation="softmax", name="activity")(z)
    grl = GradientReversal(name="reversal")
    d = layers.Dense(64, activation="relu")(grl(z))
    d = layers.Dense(64, activation="relu")(d)
    site = layers.Dense(1, activation="sigmoid", name="site")(d)
    return keras.Model(inp, {"activity": activity, "site": site}), grl


def main(epochs=18):
    keras.utils.set_random_seed(12)
    rng = np.random.default_rng(12)
    basis = rng.normal(0, .75, (CLASSES, 28))
    quirk = rng.normal(0, 1.5, (CLASSES, N_FEAT - 28))
    xa, ya = clinic(2500, rng, basis, quirk, "A")
    xb, _ = clinic(2500, rng, basis, quirk, "B")
    xa_te, ya_te = clinic(1000, rng, basis, quirk, "A")
    xb_te, yb_te = clinic(1500, rng, basis, quirk, "B")

    x = np.concatenate([xa, xb])
    labels = {"activity": np.concatenate([ya, np.zeros(len(xb), "int32")]),
              "site": np.concatenate([np.zeros(len(xa)), np.ones(len(xb))]).astype("float32")[:, None]}
    weights = {"activity": np.concatenate([np.full(len(xa), 2.0), np.zeros(len(xb))]).astype("float32"),
               "site": np.ones(len(x), "float32")}
    order = rng.permutation(len(x))
    ds = tf.data.Dataset.from_tensor_slices(
        (x[order], {k: v[order] for k, v in labels.items()},
         {k: v[order] for k, v in weights.items()})).shuffle(5000, seed=1).batch(64)

    model, grl = build()
    model.compile(keras.optimizers.Adam(1e-3),
                  loss={"activity": "sparse_categorical_crossentropy",
                        "site": "binary_crossentropy"},
                  weighted_metrics={"activity": ["accuracy"], "site": ["accuracy"]})
    model.fit(ds, epochs=epochs, verbose=2, callbacks=[RampStrength(grl, epochs)])

    acc_a = np.mean(ops.argmax(model.predict(xa_te, verbose=0)["activity"], -1) == ya_te)
    acc_b = np.mean(ops.argmax(model.predict(xb_te, verbose=0)["activity"], -1) == yb_te)
    print(f"clinic A accuracy {acc_a:.3f}   clinic B accuracy {acc_b:.3f}   "
          f"(chance {1 / CLASSES:.2f})")


if __name__ == "__main__":
    main()
