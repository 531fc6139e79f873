# Frog call recogniser: log-mel-like frames -> species. Small field data set.
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import keras
from keras import layers
import tensorflow as tf

keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)

N_SPECIES = 5
N_CLIPS = 900
FRAMES, BANDS = 24, 20


def clip_for(species):
    """pulse trains: each species has a carrier band and a pulse period, with a lot of overlap"""
    carrier = 4 + 3 * species + rng.normal(0, 1.1)
    period = 3 + 0.8 * species + rng.normal(0, 0.3)
    t = np.arange(FRAMES)[:, None]
    b = np.arange(BANDS)[None, :]
    env = 0.5 + 0.5 * np.sin(2 * np.pi * t / period + rng.uniform(0, 6.28))
    spec = env * np.exp(-((b - carrier) ** 2) / 4.0)
    return (spec + rng.normal(0, 0.5, (FRAMES, BANDS))).astype("float32")


species = rng.integers(0, N_SPECIES, N_CLIPS)
clips = np.stack([clip_for(s) for s in species])
clips = (clips - clips.mean()) / clips.std()

n_val = N_CLIPS // 4
full = tf.data.Dataset.from_tensor_slices((clips, species.astype("int32")))
full = full.shuffle(N_CLIPS, seed=2)
val_ds = full.take(n_val).batch(64)
train_ds = full.skip(n_val).shuffle(N_CLIPS).batch(32).prefetch(2)

inp = keras.Input((FRAMES, BANDS))
x = layers.Conv1D(48, 5, padding="same", activation="relu")(inp)
x = layers.Conv1D(48, 5, padding="same", activation="relu")(x)
x = layers.MaxPooling1D(2)(x)
x = layers.Flatten()(x)
x = layers.Dropout(0.3)(x)
x = layers.Dense(64, activation="relu")(x)
out = layers.Dense(N_SPECIES, activation="softmax")(x)
model = keras.Model(inp, out)

model.compile(optimizer=keras.optimizers.Adam(1e-3),
              loss="sparse_categorical_crossentropy", metrics=["accuracy"])
stop = keras.callbacks.EarlyStopping(monitor="val_loss", patience=3, restore_best_weights=True)
history = model.fit(train_ds, validation_data=val_ds, epochs=20, callbacks=[stop], verbose=2)

# second evening at the same pond
species2 = rng.integers(0, N_SPECIES, 600)
clips2 = np.stack([clip_for(s) for s in species2])
clips2 = (clips2 - clips2.mean()) / clips2.std()
_, acc2 = model.evaluate(clips2, species2, verbose=0)
print("last val accuracy  : %.3f" % history.history["val_accuracy"][-1])
print("best val accuracy  : %.3f" % max(history.history["val_accuracy"]))
print("second evening     : %.3f" % acc2)
