# Gesture recognition from a wrist IMU (3 accelerometer axes + 3 gyro axes, 60 samples).
import numpy as np
import keras
from keras import layers, ops
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(2)
N_CHANNELS, N_STEPS = 6, 60
GESTURES = ["circle_left", "circle_right", "wave", "shake", "twist"]


def record(gesture, rng):
    """One recording, as the logger writes it: (channels, samples)."""
    t = np.arange(N_STEPS) / N_STEPS
    f = rng.uniform(2.5, 4.0)
    p = rng.uniform(0, 2 * np.pi)
    a = rng.uniform(0.8, 1.2)
    s = lambda shift, k=1.0: a * np.sin(2 * np.pi * f * k * t + p + shift)
    sig = np.zeros((N_CHANNELS, N_STEPS))
    if gesture == 0:
        sig[0], sig[1], sig[5] = s(0), s(np.pi / 2), s(0)
    elif gesture == 1:
        sig[0], sig[1], sig[5] = s(0), s(-np.pi / 2), s(0)
    elif gesture == 2:
        sig[0], sig[1], sig[5] = s(0), s(0), s(0)
    elif gesture == 3:
        sig[0], sig[1], sig[5] = s(0), s(np.pi), s(0)
    else:
        sig[0], sig[1], sig[5] = s(0), s(np.pi / 2), s(np.pi)
    return sig + rng.normal(0, 0.25, sig.shape)


rng = np.random.default_rng(0)
labels = rng.integers(0, len(GESTURES), 2500)
recordings = np.stack([record(g, rng) for g in labels]).astype("float32")
print("logged:", recordings.shape)

# Conv1D wants (samples, steps, channels)
X = recordings.reshape(-1, N_STEPS, N_CHANNELS)
X = (X - X.mean()) / X.std()
X_tr, X_te, y_tr, y_te = train_test_split(X, labels, test_size=0.2, random_state=0)

model = keras.Sequential([
    keras.Input((N_STEPS, N_CHANNELS)),
    layers.Conv1D(32, 7, activation="relu"),
    layers.Conv1D(32, 5, activation="relu"),
    layers.GlobalAveragePooling1D(),
    layers.Dense(32, activation="relu"),
    layers.Dense(len(GESTURES)),
])
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(X_tr, y_tr, validation_data=(X_te, y_te), epochs=15, batch_size=64, verbose=2)
pred = ops.convert_to_numpy(ops.argmax(model(X_te), axis=-1))
for i, g in enumerate(GESTURES):
    print(f"{g:13s} {np.mean(pred[y_te == i] == i):.2f}")
print("test accuracy", round(float((pred == y_te).mean()), 3))
