import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(3)


def make_images(n, size=16):
    rng = np.random.default_rng(0)
    images = 0.3 * rng.normal(size=(n, size, size, 1))
    kinds = rng.integers(0, 3, n)
    for i, kind in enumerate(kinds):
        r, c = rng.integers(2, size - 8, 2)
        if kind == 0:
            images[i, r:r + 6, c:c + 6, 0] += 1.0
        elif kind == 1:
            images[i, r + 3, c:c + 6, 0] += 1.5
            images[i, r:r + 6, c + 3, 0] += 1.5
        else:
            images[i, np.arange(r, r + 6), np.arange(c, c + 6), 0] += 1.5
    return images.astype("float32"), kinds


x, y = make_images(1500)
model = keras.Sequential([
    keras.Input((16, 16, 1)),
    layers.Conv2D(16, 3, padding="same", use_bias=False),
    layers.BatchNormalization(),
    layers.ReLU(),
    layers.MaxPooling2D(),
    layers.Conv2D(32, 3, padding="same", use_bias=False),
    layers.BatchNormalization(),
    layers.ReLU(),
    layers.GlobalAveragePooling2D(),
    layers.Dense(3, activation="softmax"),
])
model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=0.1, momentum=0.9, nesterov=True),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(x[:1200], y[:1200], batch_size=32, epochs=4, validation_data=(x[1200:], y[1200:]), verbose=2)
