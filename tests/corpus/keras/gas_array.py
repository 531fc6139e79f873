# Which of six gas mixtures is in the chamber? 12-sensor metal-oxide array.
import logging
import numpy as np
import keras
from keras import layers, initializers
from sklearn.metrics import confusion_matrix
from sklearn.preprocessing import StandardScaler

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
log = logging.getLogger("gas")
keras.utils.set_random_seed(2)

MIXES = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=float)
N_SENSORS = 12


class Chamber:
    def __init__(self, seed=2):
        self.rng = np.random.default_rng(seed)
        self.gain = self.rng.uniform(0.2, 1.5, size=(3, N_SENSORS))
        self.expo = self.rng.uniform(0.4, 1.1, size=(3, N_SENSORS))
        self.humid = self.rng.normal(0, 0.25, size=N_SENSORS)

    def measure(self, n):
        lab = self.rng.integers(0, len(MIXES), n)
        ppm = MIXES[lab] * self.rng.lognormal(0.8, 0.6, size=(n, 3))
        resp = (self.gain * np.power(ppm[..., None] + 1e-6, self.expo)).sum(1)
        h = self.rng.normal(size=(n, 1))
        resp = np.log1p(resp) + h * self.humid + self.rng.normal(0, 0.05, size=(n, N_SENSORS))
        return resp.astype("float32"), lab


def classifier(n_in, hidden=(48, 32), n_out=6):
    init = initializers.Constant(0.05)
    net = keras.Sequential(name="enose")
    net.add(keras.Input((n_in,)))
    for i, h in enumerate(hidden):
        net.add(layers.Dense(h, activation="relu", kernel_initializer=init, name=f"fc{i}"))
    net.add(layers.Dense(n_out, activation="softmax", kernel_initializer=init, name="mix"))
    return net


def run():
    chamber = Chamber()
    x, y = chamber.measure(4200)
    x_tr, y_tr = x[:3000], y[:3000]
    x_va, y_va = x[3000:3400], y[3000:3400]
    x_te, y_te = x[3400:], y[3400:]
    scaler = StandardScaler().fit(x_tr)
    x_tr, x_va, x_te = (scaler.transform(a) for a in (x_tr, x_va, x_te))

    net = classifier(N_SENSORS)
    net.compile(optimizer=keras.optimizers.Adam(3e-3),
                loss="sparse_categorical_crossentropy", metrics=["accuracy"])

    def schedule(epoch, lr):
        return lr if epoch < 15 else lr * 0.9

    h = net.fit(x_tr, y_tr, validation_data=(x_va, y_va), epochs=25, batch_size=32, verbose=0,
                callbacks=[keras.callbacks.LearningRateScheduler(schedule)])
    for e in range(0, 25, 6):
        log.info("epoch %02d loss %.3f acc %.3f val_acc %.3f", e + 1, h.history["loss"][e],
                 h.history["accuracy"][e], h.history["val_accuracy"][e])

    prob = net.predict(x_te, verbose=0)
    acc = float((prob.argmax(1) == y_te).mean())
    log.info("test accuracy %.3f (largest class %.3f)", acc, np.bincount(y_te).max() / len(y_te))
    print(confusion_matrix(y_te, prob.argmax(1)))


if __name__ == "__main__":
    run()
