# Classify the state of a turbine from a short vibration window (log files come one state after another).
import numpy as np
import tensorflow as tf
import keras
from keras import layers

SEED = 21
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

STATES = ["idle", "spin_up", "normal", "overload", "bearing"]
T = 64
PER_STATE = 700


def windows(state, n):
    t = np.arange(T) / T
    ph = rng.uniform(0, 2 * np.pi, (n, 1))
    f = rng.uniform(5, 7, (n, 1))
    if state == "idle":
        sig = 0.15 * np.sin(2 * np.pi * 2 * t + ph)
    elif state == "spin_up":
        sig = np.sin(2 * np.pi * (2 * t + 5 * t ** 2) + ph)
    elif state == "normal":
        sig = np.sin(2 * np.pi * f * t + ph)
    elif state == "overload":
        sig = 1.2 * np.sin(2 * np.pi * f * t + ph) + 0.6 * np.sin(2 * np.pi * 2 * f * t + 2 * ph)
    else:
        sig = np.sin(2 * np.pi * f * t + ph) * (1 + 0.6 * np.sin(2 * np.pi * 14 * t + rng.uniform(0, 6, (n, 1))))
    return (sig + rng.normal(0, 0.25, (n, T))).astype("float32")[..., None]


def read_logs(per_state):
    xs, ys = [], []
    for k, s in enumerate(STATES):
        xs.append(windows(s, per_state))
        ys.append(np.full(per_state, k))
    return np.concatenate(xs), np.concatenate(ys)


x_train, y_train = read_logs(PER_STATE)
x_val, y_val = read_logs(150)

BATCH = 32
train_ds = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .shuffle(4 * BATCH)
    .batch(BATCH)
    .prefetch(tf.data.AUTOTUNE)
)
val_ds = tf.data.Dataset.from_tensor_slices((x_val, y_val)).batch(250)


def net():
    inp = keras.Input((T, 1))
    h = layers.Conv1D(24, 7, strides=2, padding="same", activation="relu")(inp)
    h = layers.Conv1D(32, 5, strides=2, padding="same", activation="relu")(h)
    h = layers.Conv1D(48, 3, padding="same", activation="relu")(h)
    h = layers.GlobalMaxPooling1D()(h)
    h = layers.Dense(32, activation="relu")(h)
    return keras.Model(inp, layers.Dense(len(STATES), activation="softmax")(h))


model = net()
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(train_ds, validation_data=val_ds, epochs=12, verbose=2)

guess = model.predict(val_ds, verbose=0).argmax(-1)
table = np.zeros((len(STATES), len(STATES)), int)
np.add.at(table, (y_val, guess), 1)
print("accuracy", round(float((guess == y_val).mean()), 3))
print(table)
