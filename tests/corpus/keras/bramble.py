import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(31)
rng = np.random.default_rng(31)

LENGTH, CHANNELS = 64, 3
ACTIVITIES = ["standing", "walking", "running", "stairs"]
EPOCHS, BATCH = 15, 32


def record(label):
    """A window of accelerometer readings."""
    t = np.arange(LENGTH) / 25.0
    rate, swing = [(0.0, 0.0), (1.7, 0.5), (2.7, 1.0), (1.7, 0.45)][label]
    rate, phase = rate + rng.normal(0, 0.12), rng.uniform(0, 2 * np.pi)
    swing = swing * rng.uniform(0.7, 1.3)
    step = np.sin(2 * np.pi * rate * t + phase)
    up = swing * step + (0.3 * np.sin(4 * np.pi * rate * t + phase) if label == 3 else 0.0)
    ahead = 0.6 * swing * np.roll(step, 3)
    side = 0.3 * swing * np.sin(np.pi * rate * t + phase)
    return np.stack([up, ahead, side], axis=-1) + rng.normal(0, 0.25, (LENGTH, CHANNELS))


def dataset(n):
    labels = rng.integers(0, len(ACTIVITIES), n)
    return np.stack([record(y) for y in labels]).astype("float32"), labels


x_train, y_train = dataset(1600)
x_val, y_val = dataset(300)
x_test, y_test = dataset(400)

normalize = layers.Normalization(axis=-1)
normalize.adapt(x_train)

model = keras.Sequential([
    keras.Input((LENGTH, CHANNELS)),
    normalize,
    layers.Conv1D(24, 7, activation="relu"),
    layers.MaxPooling1D(2),
    layers.Conv1D(32, 5, activation="relu"),
    layers.GlobalAveragePooling1D(),
    layers.Dropout(0.2),
    layers.Dense(len(ACTIVITIES)),
])

schedule = keras.optimizers.schedules.CosineDecay(initial_learning_rate=2e-3, decay_steps=EPOCHS, alpha=0.01)
model.compile(
    optimizer=keras.optimizers.Adam(schedule),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, validation_data=(x_val, y_val), verbose=2)
loss, accuracy = model.evaluate(x_test, y_test, verbose=0)
print(f"test accuracy {accuracy:.3f}")
