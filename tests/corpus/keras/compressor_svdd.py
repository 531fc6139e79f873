import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import keras
from keras import layers
from sklearn.metrics import roc_auc_score

keras.utils.set_random_seed(6)
rng = np.random.default_rng(6)
LENGTH = 64


def hum(n, faulty=False):
    """one revolution of a compressor; a worn valve shifts energy to the 7th harmonic"""
    t = np.linspace(0, 2 * np.pi, LENGTH)
    a = rng.normal(1.0, 0.1, (n, 1))
    x = a * np.sin(t + rng.uniform(0, 0.4, (n, 1))) + 0.4 * np.sin(3 * t + rng.uniform(0, 0.4, (n, 1)))
    if faulty:
        x = x + rng.uniform(0.2, 0.45, (n, 1)) * np.sin(7 * t + rng.uniform(0, 6.28, (n, 1)))
    return (x + rng.normal(0, 0.1, (n, LENGTH))).astype("float32")


normal = hum(2500)
test = np.concatenate([hum(400), hum(400, faulty=True)])
is_bad = np.repeat([0, 1], 400)

encoder = keras.Sequential([
    keras.Input((LENGTH,)),
    layers.Dense(96, use_bias=False, activation="leaky_relu"),
    layers.Dense(32, use_bias=False),
], name="encoder")

# Deep SVDD: healthy machines only, each is pulled to one fixed centre (every target is the same vector)
centre = encoder.predict(normal, verbose=0).mean(axis=0)
centre[np.abs(centre) < 0.1] = 0.1
encoder.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")
encoder.fit(normal, np.tile(centre, (len(normal), 1)), epochs=25, batch_size=64, verbose=2)

distance = ((encoder.predict(test, verbose=0) - centre) ** 2).sum(axis=1)
print(f"anomaly AUC {roc_auc_score(is_bad, distance):.3f}  "
      f"distance healthy {distance[:400].mean():.4f} worn {distance[400:].mean():.4f}")
