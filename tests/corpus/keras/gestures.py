import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)

GESTURES = ["swipe_left", "swipe_right", "circle", "shake", "tap"]
STEPS = 60


def record(gesture):
    """One recording of a three-axis accelerometer."""
    t = np.linspace(0, 1, STEPS) + rng.uniform(-0.1, 0.1)
    size = rng.uniform(0.6, 1.5)
    signal = np.zeros((STEPS, 3))
    if gesture == "swipe_left":
        signal[:, 0] = -size * np.sin(2 * np.pi * t)
    elif gesture == "swipe_right":
        signal[:, 0] = size * np.sin(2 * np.pi * t)
    elif gesture == "circle":
        signal[:, 0] = size * np.sin(2 * np.pi * t)
        signal[:, 1] = size * np.cos(2 * np.pi * t)
    elif gesture == "shake":
        signal[:, 0] = size * np.sin(2 * np.pi * 6 * t)
    elif gesture == "tap":
        signal[:, 2] = 2 * size * np.exp(-((t - 0.4) ** 2) / 0.003)
    return signal + rng.normal(0, 0.35, signal.shape)


recordings, labels = [], []
for index, gesture in enumerate(GESTURES):
    for _ in range(300):
        recordings.append(record(gesture))
        labels.append(index)

x = np.array(recordings, dtype="float32")
y = np.array(labels)

# standardise each axis
x = (x - x.mean(axis=(0, 1))) / x.std(axis=(0, 1))

model = keras.Sequential([
    keras.Input((STEPS, 3)),
    layers.Conv1D(24, 5, activation="relu"),
    layers.MaxPooling1D(2),
    layers.Conv1D(32, 5, activation="relu"),
    layers.GlobalMaxPooling1D(),
    layers.Dropout(0.3),
    layers.Dense(len(GESTURES), activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])

stop = keras.callbacks.EarlyStopping(monitor="val_loss", patience=5, restore_best_weights=True)
history = model.fit(x, y, batch_size=32, epochs=25, validation_split=0.2, callbacks=[stop], verbose=2)

best = int(np.argmin(history.history["val_loss"]))
print("best epoch", best + 1, "val accuracy", round(history.history["val_accuracy"][best], 3))
