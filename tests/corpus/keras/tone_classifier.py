import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import keras
from keras import layers
from sklearn.model_selection import train_test_split

SR = 2000
DUR = 0.16
INSTRUMENTS = ["sine", "square", "saw", "bell", "reed"]
EPOCHS = 15
BATCH = 32

keras.utils.set_random_seed(7)
rng = np.random.default_rng(7)


def synth(kind, f0):
    t = np.arange(int(SR * DUR)) / SR
    phase = rng.uniform(0, 2 * np.pi)
    if kind == "sine":
        wave = np.sin(2 * np.pi * f0 * t + phase)
    elif kind == "square":
        wave = np.sign(np.sin(2 * np.pi * f0 * t + phase))
    elif kind == "saw":
        wave = 2 * ((f0 * t + phase) % 1.0) - 1
    elif kind == "bell":
        wave = np.exp(-18 * t) * (np.sin(2 * np.pi * f0 * t + phase) + 0.7 * np.sin(2 * np.pi * 2.76 * f0 * t))
    else:
        wave = sum(np.sin(2 * np.pi * k * f0 * t + phase * k) / k for k in (1, 3, 5))
        wave = wave * (1 + 0.4 * np.sin(2 * np.pi * 12 * t))
    return wave + rng.normal(0, 0.25, t.shape)


def spectrogram(wave, frame=64, hop=32):
    frames = [wave[i:i + frame] * np.hanning(frame) for i in range(0, len(wave) - frame + 1, hop)]
    mag = np.abs(np.fft.rfft(np.stack(frames), axis=1))
    return np.log1p(mag).astype("float32")


X, y = [], []
for label, kind in enumerate(INSTRUMENTS):
    for _ in range(400):
        X.append(spectrogram(synth(kind, rng.uniform(80, 240))))
        y.append(label)
X = np.stack(X)[..., None]
y = np.array(y)

X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=7)
mu, sd = X_train.mean(), X_train.std()
X_train, X_test = (X_train - mu) / sd, (X_test - mu) / sd

steps_per_epoch = int(np.ceil(len(X_train) / BATCH))
print("train", X_train.shape, "test", X_test.shape, "steps per epoch", steps_per_epoch)

model = keras.Sequential([
    layers.Input(X_train.shape[1:]),
    layers.Conv2D(16, 3, padding="same", activation="relu"),
    layers.MaxPooling2D((1, 2)),
    layers.Conv2D(32, 3, padding="same", activation="relu"),
    layers.MaxPooling2D((2, 2)),
    layers.Flatten(),
    layers.Dense(48, activation="relu"),
    layers.Dense(len(INSTRUMENTS), activation="softmax"),
])

schedule = keras.optimizers.schedules.CosineDecay(
    initial_learning_rate=1e-3,
    decay_steps=EPOCHS,
)
model.compile(
    optimizer=keras.optimizers.Adam(schedule),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(X_train, y_train, epochs=EPOCHS, batch_size=BATCH, validation_split=0.1, verbose=2)

loss, acc = model.evaluate(X_test, y_test, verbose=0)
print(f"test loss {loss:.4f}  test accuracy {acc:.4f}")
