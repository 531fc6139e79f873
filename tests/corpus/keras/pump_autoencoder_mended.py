"""Denoising autoencoder on pump vibration windows; large reconstruction errors mean a fault."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tempfile
import numpy as np
import keras
from sklearn.metrics import roc_auc_score

keras.utils.set_random_seed(13)
rng = np.random.default_rng(13)
WIN = 48


def record(n, faulty=False):
    """12 bit converter counts, one row per window."""
    t = np.arange(WIN)
    rows = np.empty((n, WIN))
    for i in range(n):
        phase, speed = rng.uniform(0, 2 * np.pi), rng.uniform(0.24, 0.30)
        gain = rng.uniform(350, 650)
        wave = np.sin(speed * t + phase) + 0.4 * np.sin(2 * speed * t + 2 * phase)
        if faulty:
            wave = wave + 0.35 * np.sin(5.3 * speed * t + rng.uniform(0, 6)) * (rng.random() + 0.6)
        rows[i] = 2048 + gain * wave + rng.normal(0, 40, WIN)
    return np.clip(rows, 0, 4095).astype("int16")


raw = record(3000)
low, high = raw.min(), raw.max()


def scale(counts):
    return (counts.astype("float32") - low) / (high - low)


def make_pairs(raw, copies=2):
    noisy = np.empty((copies * len(raw), WIN), dtype="float32")
    clean = np.empty((copies * len(raw), WIN), dtype="float32")
    for k in range(copies):
        rows = slice(k * len(raw), (k + 1) * len(raw))
        clean[rows] = scale(raw)
        noisy[rows] = scale(raw) + rng.normal(0, 0.03, raw.shape)
    return noisy, clean


noisy, clean = make_pairs(raw)
window = np.arange(len(noisy)) % len(raw)
train_idx, val_idx = np.flatnonzero(window < 2500), np.flatnonzero(window >= 2500)

model = keras.Sequential([
    keras.layers.Input((WIN,)),
    keras.layers.Dense(64, activation="relu"),
    keras.layers.Dense(8),
    keras.layers.Dense(64, activation="relu"),
    keras.layers.Dense(WIN),
])
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")

best = os.path.join(tempfile.mkdtemp(), "pump.weights.h5")
model.fit(
    noisy[train_idx], clean[train_idx],
    validation_data=(noisy[val_idx], clean[val_idx]),
    epochs=40, batch_size=100, verbose=2,
    callbacks=[
        keras.callbacks.EarlyStopping(monitor="val_loss", patience=5),
        keras.callbacks.ModelCheckpoint(best, monitor="val_loss", save_best_only=True, save_weights_only=True),
    ],
)
model.load_weights(best)


def anomaly_score(counts):
    x = scale(counts)
    return np.mean((model.predict(x, verbose=0) - x) ** 2, axis=1)


healthy, faulty = anomaly_score(record(500)), anomaly_score(record(500, faulty=True))
truth = np.r_[np.zeros(500), np.ones(500)]
limit = np.quantile(anomaly_score(raw), 0.95)
print("mean error healthy %.5f faulty %.5f, variance of the signal %.5f" % (healthy.mean(), faulty.mean(), scale(raw).var()))
print("detection auc %.3f" % roc_auc_score(truth, np.r_[healthy, faulty]))
print("faults caught %.3f false alarms %.3f" % ((faulty > limit).mean(), (healthy > limit).mean()))
