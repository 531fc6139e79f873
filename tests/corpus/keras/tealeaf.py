import os
import tempfile

import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(11)
rng = np.random.default_rng(11)


def make_leaves(n):
    humidity = rng.uniform(0.4, 0.9, n)
    hours = rng.uniform(2, 20, n)
    temp = rng.uniform(15, 35, n)
    shade = rng.integers(0, 3, n)
    grade = 4 * np.sin(hours / 4) + 6 * humidity - 0.02 * (temp - 24) ** 2 + shade * 0.8
    x = np.stack([humidity, hours, temp, shade == 0, shade == 1, shade == 2], axis=1).astype("float32")
    return x, (grade + rng.normal(0, 0.1, n)).astype("float32")


def rmse(y_true, y_pred):
    return keras.ops.sqrt(keras.ops.mean(keras.ops.square(y_true - y_pred)))


x_train, y_train = make_leaves(2400)
x_test, y_test = make_leaves(400)

norm = layers.Normalization()
norm.adapt(x_train)
model = keras.Sequential([
    layers.Input((6,)),
    norm,
    layers.Dense(64, activation="gelu"),
    layers.Dense(64, activation="gelu"),
    layers.Dense(1),
    layers.Flatten(),
    layers.Reshape(()),
])
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss=rmse, metrics=["mae"])

workdir = tempfile.mkdtemp()
best = os.path.join(workdir, "best.keras")
model.fit(
    x_train, y_train,
    validation_split=0.15,
    batch_size=64,
    epochs=20,
    verbose=2,
    callbacks=[
        keras.callbacks.ModelCheckpoint(best, monitor="val_loss", save_best_only=True),
        keras.callbacks.ReduceLROnPlateau(patience=3, factor=0.5),
    ],
)

restored = keras.models.load_model(best)
loss, mae = restored.evaluate(x_test, y_test, verbose=0)
print(f"test rmse {loss:.3f}  mae {mae:.3f}  std of target {y_test.std():.3f}")
