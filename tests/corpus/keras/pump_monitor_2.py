import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
from sklearn.metrics import roc_auc_score

keras = tf.keras
keras.utils.set_random_seed(13)
SENSORS = 20


class PumpSimulator:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.mix = np.random.default_rng(77).normal(size=(4, SENSORS))

    def normal(self, n):
        z = self.rng.normal(size=(n, 4))
        z[:, 3] = z[:, 0] * z[:, 1]
        return np.tanh(z @ self.mix * 0.6) + self.rng.normal(0, 0.05, (n, SENSORS))

    def faulty(self, n):
        x = self.normal(n)
        for row in x:
            k = self.rng.choice(SENSORS, 4, replace=False)
            row[k] = row[self.rng.permutation(k)] + self.rng.normal(0, 0.3, 4)
        return x


class AnomalyDetector:
    def __init__(self, code=6, keep=0.9):
        self.net = keras.Sequential([
            keras.layers.Input((SENSORS,)),
            keras.layers.Dropout(keep),
            keras.layers.Dense(48, activation="relu"),
            keras.layers.Dense(code),
            keras.layers.Dense(48, activation="relu"),
            keras.layers.Dense(SENSORS),
        ])
        self.net.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")

    def fit(self, x, epochs=30):
        self.mean, self.std = x.mean(0), x.std(0)
        xs = self._scale(x)
        stop = keras.callbacks.EarlyStopping(monitor="val_loss", patience=6,
                                             restore_best_weights=True)
        hist = self.net.fit(xs, xs, epochs=epochs, batch_size=64, validation_split=0.15,
                            callbacks=[stop], verbose=0)
        errors = self.score(x)
        self.threshold = np.quantile(errors, 0.97)
        return hist.history

    def _scale(self, x):
        return ((x - self.mean) / self.std).astype("float32")

    def score(self, x):
        xs = self._scale(x)
        return np.mean((self.net.predict(xs, verbose=0) - xs) ** 2, axis=1)


sim = PumpSimulator(1)
history_data = sim.normal(3000)
detector = AnomalyDetector()
h = detector.fit(history_data)
print("epochs run", len(h["loss"]))
print("val loss first/best", round(h["val_loss"][0], 4), round(min(h["val_loss"]), 4))

good, bad = sim.normal(500), sim.faulty(500)
s = np.r_[detector.score(good), detector.score(bad)]
t = np.r_[np.zeros(500), np.ones(500)]
print(f"reconstruction mse on normal {s[:500].mean():.4f} (variance of the data is 1.0)")
print(f"AUC {roc_auc_score(t, s):.4f}  alarms on faulty {np.mean(s[500:] > detector.threshold):.4f} "
      f"on normal {np.mean(s[:500] > detector.threshold):.4f}")
