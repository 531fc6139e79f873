# heart beat shape classifier, exported from a notebook
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import keras
from keras import layers

# %% settings
SEED = 21
LENGTH = 96
CLASSES = ["normal", "wide", "early", "inverted_t", "paced"]
EPOCHS = 15
BATCH = 64
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

# %% synthetic beats
grid = np.linspace(0, 1, LENGTH)


def bump(center, width, height):
    return height * np.exp(-0.5 * ((grid - center) / width) ** 2)


def beat(kind):
    shift = rng.normal(0, 0.02)
    gain = rng.uniform(0.7, 1.3)
    p, r, t = 0.22 + shift, 0.45 + shift, 0.72 + shift
    qrs, t_height, extra = 0.02, 0.35, 0
    if kind == 1:
        qrs = 0.045
    elif kind == 2:
        p, r = p - 0.08, r - 0.1
    elif kind == 3:
        t_height = -0.3
    elif kind == 4:
        extra = bump(r - 0.09, 0.006, 0.9)
    wave = bump(p, 0.03, 0.2) + bump(r, qrs, 1.0) + bump(t, 0.06, t_height) + extra
    return gain * wave + rng.normal(0, 0.22, LENGTH)


def dataset(n):
    y = rng.integers(0, len(CLASSES), n)
    x = np.stack([beat(k) for k in y])[..., None].astype("float32")
    return x, y


x_train, y_train = dataset(4000)
x_val, y_val = dataset(1000)

# %% model
model = keras.Sequential([
    keras.Input((LENGTH, 1)),
    layers.Conv1D(16, 7, padding="same", activation="relu"),
    layers.MaxPooling1D(2),
    layers.Conv1D(32, 5, padding="same", activation="relu"),
    layers.MaxPooling1D(2),
    layers.Conv1D(32, 3, padding="same", activation="relu"),
    layers.Flatten(),
    layers.Dropout(0.2),
    layers.Dense(len(CLASSES)),
])

# %% cosine annealing over the whole run
schedule = keras.optimizers.schedules.CosineDecay(
    initial_learning_rate=2e-3,
    decay_steps=EPOCHS * (len(x_train) // BATCH),
    alpha=1e-3,
)
model.compile(
    optimizer=keras.optimizers.Adam(schedule),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)

# %% train
history = model.fit(
    x_train, y_train,
    validation_data=(x_val, y_val),
    epochs=EPOCHS, batch_size=BATCH, verbose=2,
)

# %% report
pred = model.predict(x_val, verbose=0).argmax(1)
for k, name in enumerate(CLASSES):
    print(f"{name:>10s}  recall {(pred[y_val == k] == k).mean():.3f}")
print("final val accuracy", round(history.history["val_accuracy"][-1], 4))
