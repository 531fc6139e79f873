import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(11)

SIZE = 20
EPOCHS = 8
BATCH = 32
N_TRAIN, N_TEST = 2400, 600
MARKS = ["arrow", "cross", "ring", "bars"]


def draw(kind, rng):
    img = np.zeros((SIZE, SIZE), "float32")
    cy, cx = rng.integers(7, 13, 2)
    r = rng.integers(4, 7)
    yy, xx = np.mgrid[:SIZE, :SIZE]
    if kind == 0:
        img[(np.abs(xx - cx) <= (yy - cy + r) / 2) & (np.abs(yy - cy) <= r)] = 1
    elif kind == 1:
        img[(np.abs(xx - cx) <= 1) & (np.abs(yy - cy) <= r)] = 1
        img[(np.abs(yy - cy) <= 1) & (np.abs(xx - cx) <= r)] = 1
    elif kind == 2:
        d = np.sqrt((yy - cy) ** 2 + (xx - cx) ** 2)
        img[(d <= r) & (d >= r - 2)] = 1
    else:
        img[((xx - cx) % 3 == 0) & (np.abs(yy - cy) <= r) & (np.abs(xx - cx) <= r)] = 1
    return img * rng.uniform(0.6, 1.0) + rng.normal(0, 0.25, img.shape)


def make(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(MARKS), n)
    x = np.stack([draw(k, rng) for k in y])[..., None].astype("float32")
    return x, y


x_train, y_train = make(N_TRAIN, 0)
x_test, y_test = make(N_TEST, 1)

model = keras.Sequential([
    keras.Input((SIZE, SIZE, 1)),
    layers.Conv2D(16, 3, activation="relu", padding="same"),
    layers.MaxPooling2D(),
    layers.Conv2D(32, 3, activation="relu", padding="same"),
    layers.MaxPooling2D(),
    layers.Flatten(),
    layers.Dense(48, activation="relu"),
    layers.Dropout(0.2),
    layers.Dense(len(MARKS), activation="softmax"),
])

steps_per_epoch = int(np.ceil(N_TRAIN / BATCH))
print("steps per epoch:", steps_per_epoch)
schedule = keras.optimizers.schedules.CosineDecay(
    initial_learning_rate=2e-3,
    decay_steps=EPOCHS,
    alpha=0.0,
)
model.compile(
    optimizer=keras.optimizers.Adam(schedule),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(x_train, y_train, validation_split=0.1, epochs=EPOCHS, batch_size=BATCH, verbose=2)
loss, acc = model.evaluate(x_test, y_test, verbose=0)
print(f"test loss {loss:.3f}  accuracy {acc:.3f}")
