# Modulation recognition of short radio bursts, exported from the lab notebook.
# Feature rows: 48 spectral bins + 8 moments. 3 device types.
import numpy as np
import tensorflow as tf
import keras
from keras import layers, regularizers

keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)

N_LAB, N_SITE, BINS = 900, 1500, 56
CLASSES = ["am", "fm", "ook"]


def record(n):
    """Draw n bursts; a part of the bursts is drowned in interference."""
    y = rng.integers(0, 3, n)
    centre = np.array([12.0, 20.0, 28.0])[y] + rng.normal(0, 3.6, n)
    width = np.array([3.0, 5.0, 3.5])[y] * rng.uniform(0.7, 1.4, n)
    f = np.arange(48)
    spec = np.exp(-0.5 * ((f[None] - centre[:, None]) / width[:, None]) ** 2)
    spec = spec * rng.uniform(0.5, 1.5, (n, 1)) + rng.normal(0, 0.55, (n, 48))
    mom = rng.normal(0, 1, (n, 8))
    mom[:, 0] += 0.6 * (y == 2)
    flip = rng.random(n) < 0.10
    y = np.where(flip, rng.integers(0, 3, n), y)
    return np.concatenate([spec, mom], 1).astype("float32"), y.astype("int32")


lab_x, lab_y = record(N_LAB)
site_x, site_y = record(N_SITE)            # recorded a week later, touched once at the end

mu, sd = lab_x.mean(0), lab_x.std(0)
lab_x, site_x = (lab_x - mu) / sd, (site_x - mu) / sd

# ---- input pipeline -------------------------------------------------------
n_val = int(0.2 * N_LAB)
full = tf.data.Dataset.from_tensor_slices((lab_x, lab_y))
full = full.shuffle(N_LAB, seed=5, reshuffle_each_iteration=False)
val_ds = full.take(n_val).batch(128)
train_ds = full.skip(n_val).shuffle(512).batch(32).prefetch(tf.data.AUTOTUNE)

# ---- model ----------------------------------------------------------------
model = keras.Sequential([
    layers.Input((BINS,)),
    layers.Dense(256, activation="gelu", kernel_regularizer=regularizers.l2(1e-5)),
    layers.Dense(256, activation="gelu", kernel_regularizer=regularizers.l2(1e-5)),
    layers.Dense(len(CLASSES)),
])
model.compile(
    optimizer=keras.optimizers.Adam(6e-4),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=[keras.metrics.SparseCategoricalAccuracy(name="acc")],
)


class Report(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch % 5 == 0:
            print("epoch %3d | " % epoch + " | ".join(f"{k} {v:.3f}" for k, v in logs.items()))


stop = keras.callbacks.EarlyStopping(monitor="val_loss", patience=6, restore_best_weights=True)
hist = model.fit(train_ds, validation_data=val_ds, epochs=45, verbose=0,
                 callbacks=[stop, Report()])

val_loss, val_acc = model.evaluate(val_ds, verbose=0)
print(f"epochs run: {len(hist.epoch)}")
print(f"validation  loss {val_loss:.3f}  acc {val_acc:.3f}")

site_loss, site_acc = model.evaluate(site_x, site_y, batch_size=256, verbose=0)
majority = np.bincount(lab_y).argmax()
print(f"site bursts loss {site_loss:.3f}  acc {site_acc:.3f}  "
      f"(majority class {np.mean(site_y == majority):.3f})")
