import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(7)
CLASSES = ["circle", "swipe", "shake", "tap"]
STEPS = 64


def record(kind, rng):
    t = np.linspace(0, 1, STEPS)
    phase = rng.uniform(0, 2 * np.pi)
    if kind == "circle":
        sig = [np.sin(2 * np.pi * 2 * t + phase), np.cos(2 * np.pi * 2 * t + phase)]
    elif kind == "swipe":
        sig = [np.sin(2 * np.pi * 2 * t + phase), 0.4 * np.sin(2 * np.pi * 2 * t + phase)]
    elif kind == "shake":
        sig = [np.sin(2 * np.pi * 5 * t + phase), np.cos(2 * np.pi * 5 * t + phase)]
    else:
        c = rng.uniform(0.2, 0.8)
        bump = np.exp(-((t - c) ** 2) / 0.01)
        sig = [2 * bump, bump]
    sig = np.stack(sig, axis=-1) * rng.uniform(0.5, 1.3)
    return sig + rng.normal(0, 0.6, sig.shape)


def load_recordings(n_per_class, seed):
    rng = np.random.default_rng(seed)
    x, y = [], []
    for label, kind in enumerate(CLASSES):
        for _ in range(n_per_class):
            x.append(record(kind, rng))
            y.append(label)
    return np.array(x, dtype="float32"), np.array(y, dtype="int32")


x_train, y_train = load_recordings(600, seed=0)
x_val, y_val = load_recordings(100, seed=1)
mean, std = x_train.mean(), x_train.std()

AUTOTUNE = tf.data.AUTOTUNE
train_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train))
train_ds = train_ds.map(lambda a, b: ((a - mean) / std, b), num_parallel_calls=AUTOTUNE)
train_ds = train_ds.shuffle(64).batch(32).prefetch(AUTOTUNE)
val_ds = tf.data.Dataset.from_tensor_slices(((x_val - mean) / std, y_val)).batch(64)

model = keras.Sequential([
    keras.Input((STEPS, 2)),
    layers.Conv1D(32, 5, padding="same", use_bias=False),
    layers.BatchNormalization(),
    layers.ReLU(),
    layers.MaxPooling1D(2),
    layers.Conv1D(64, 5, padding="same", use_bias=False),
    layers.BatchNormalization(),
    layers.ReLU(),
    layers.GlobalAveragePooling1D(),
    layers.Dense(len(CLASSES), activation="softmax"),
])
model.compile("adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train_ds, validation_data=val_ds, epochs=8, verbose=2)

pred = model.predict(val_ds, verbose=0).argmax(-1)
for i, name in enumerate(CLASSES):
    print(f"{name:8s} recall {np.mean(pred[y_val == i] == i):.2f}")
