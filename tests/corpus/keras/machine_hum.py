import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

RATE = 2000
STATES = ["idle", "cutting", "worn", "loose", "blocked"]
tf.keras.utils.set_random_seed(6)


def recording(state, rng):
    t = np.arange(RATE // 2) / RATE
    f = rng.uniform(95, 110)
    tones = {0: [1], 1: [1, 2], 2: [1, 3], 3: [1, 2, 4], 4: [2, 3]}[state]
    wave = sum(rng.uniform(0.4, 0.8) * np.sin(2 * np.pi * f * k * t + rng.uniform(0, 6)) for k in tones)
    return wave + rng.normal(0, 0.8, t.shape)


def spectrogram(wave, win=128, hop=64):
    frames = np.stack([wave[i:i + win] for i in range(0, len(wave) - win, hop)])
    power = np.abs(np.fft.rfft(frames * np.hanning(win), axis=1))[:, :40]
    return np.log1p(power).astype("float32")


def load_session(per_state, seed):
    rng = np.random.default_rng(seed)
    feats, labels = [], []
    for state in range(len(STATES)):
        for _ in range(per_state):
            feats.append(spectrogram(recording(state, rng)))
            labels.append(state)
    return np.stack(feats), np.array(labels)


def pipeline(feats, labels, training=False, batch_size=32):
    ds = tf.data.Dataset.from_tensor_slices((feats, labels))
    if training:
        ds = ds.cache().shuffle(buffer_size=64)
    return ds.batch(batch_size).prefetch(tf.data.AUTOTUNE)


x_train, y_train = load_session(400, seed=0)
x_val, y_val = load_session(60, seed=1)
mean, std = x_train.mean(), x_train.std()
x_train, x_val = (x_train - mean) / std, (x_val - mean) / std
train_ds = pipeline(x_train, y_train, training=True)
val_ds = pipeline(x_val, y_val)

model = keras.Sequential([
    layers.Input(x_train.shape[1:]),
    layers.Conv1D(32, 3, activation="relu"),
    layers.MaxPooling1D(2),
    layers.Conv1D(32, 3, activation="relu"),
    layers.BatchNormalization(momentum=0.9),
    layers.GlobalAveragePooling1D(),
    layers.Dropout(0.2),
    layers.Dense(len(STATES), activation="softmax"),
])
model.compile(optimizer=keras.optimizers.Adam(4e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(train_ds, validation_data=val_ds, epochs=8, verbose=2)
print("best val accuracy %.3f, last %.3f" % (max(history.history["val_accuracy"]), history.history["val_accuracy"][-1]))
