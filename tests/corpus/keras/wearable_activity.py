"""Activity recognition from a wrist accelerometer (simulated recordings).

One recording session per activity; sessions are cut into windows and stored one
after the other, as they come from the device.
"""
import logging
import numpy as np
import tensorflow as tf
import keras
from keras import layers

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("har")

ACTIVITIES = ["sit", "stand", "walk", "run", "stairs", "cycle"]
FREQ = [0.2, 0.3, 1.8, 2.7, 1.5, 1.1]
AMP = [0.05, 0.08, 0.8, 1.6, 0.9, 0.5]
WIN, HZ = 64, 20


class Recorder:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def window(self, k):
        r = self.rng
        t = np.arange(WIN) / HZ
        f = FREQ[k] * r.normal(1, 0.1)
        a = AMP[k] * r.lognormal(0, 0.3)
        ph = r.uniform(0, 2 * np.pi)
        x = a * np.sin(2 * np.pi * f * t + ph)
        y = 0.6 * a * np.sin(4 * np.pi * f * t + ph + 0.3 * k)
        z = 1.0 + 0.4 * a * np.cos(2 * np.pi * f * t + ph)
        tilt = r.normal(0, 0.25, 3) + (np.array([0.3, 0, -0.2]) if k == 0 else 0)
        sig = np.stack([x, y, z], -1) + tilt
        return sig + r.normal(0, 0.2, sig.shape)

    def session(self, k, n):
        return np.stack([self.window(k) for _ in range(n)]).astype("float32"), np.full(n, k)


def collect(per_class, seed):
    rec = Recorder(seed)
    parts = [rec.session(k, per_class) for k in range(len(ACTIVITIES))]
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def pipeline(x, y, batch, training):
    ds = tf.data.Dataset.from_tensor_slices((x, y)).cache()
    if training:
        ds = ds.shuffle(buffer_size=100)
        ds = ds.map(lambda w, l: (w * tf.random.uniform([], 0.9, 1.1), l),
                    num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(batch).prefetch(tf.data.AUTOTUNE)


def network():
    return keras.Sequential([
        keras.Input((WIN, 3)),
        layers.Conv1D(24, 7, padding="same", activation="relu"),
        layers.MaxPooling1D(2),
        layers.Conv1D(32, 5, padding="same", activation="relu"),
        layers.GlobalMaxPooling1D(),
        layers.Dense(32, activation="relu"),
        layers.Dropout(0.2),
        layers.Dense(len(ACTIVITIES), activation="softmax"),
    ])


def run(epochs=8, batch=32):
    keras.utils.set_random_seed(5)
    x_tr, y_tr = collect(500, seed=1)
    x_va, y_va = collect(60, seed=2)
    x_te, y_te = collect(120, seed=3)
    train = pipeline(x_tr, y_tr, batch, True)
    val = pipeline(x_va, y_va, batch, False)
    test = pipeline(x_te, y_te, batch, False)

    net = network()
    net.compile(keras.optimizers.Adam(1e-3), "sparse_categorical_crossentropy",
                metrics=["accuracy"])
    hist = net.fit(train, validation_data=val, epochs=epochs, verbose=0)
    for e in range(epochs):
        log.info("epoch %2d  " + "  ".join(f"{k} %.4f" for k in hist.history),
                 e + 1, *[v[e] for v in hist.history.values()])
    _, acc = net.evaluate(test, verbose=0)
    log.info("chance %.3f   test accuracy %.3f", 1 / len(ACTIVITIES), acc)


if __name__ == "__main__":
    run()
