import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(31)
rng = np.random.default_rng(31)
S = 20


def stripes(angle):
    yy, xx = np.mgrid[0:S, 0:S]
    phase = rng.uniform(0, 6.28)
    return np.sin(1.1 * (np.cos(angle) * xx + np.sin(angle) * yy) + phase)


def source_set(n):
    y = rng.integers(0, 2, n)
    x = np.stack([stripes(0.0 if k == 0 else np.pi / 2) for k in y])
    return (x + rng.normal(0, 0.4, x.shape))[..., None].astype("float32"), y


def surface(kind):
    yy, xx = np.mgrid[0:S, 0:S]
    a, b = rng.integers(0, 4, 2)
    if kind == 0:
        return np.where((((yy + a) // 2) + ((xx + b) // 2)) % 2 == 0, 1.0, -1.0)
    if kind == 1:
        return stripes(np.pi / 4)
    if kind == 2:
        return stripes(3 * np.pi / 4)
    if kind == 3:
        return np.where(rng.uniform(size=(S, S)) < 0.08, 3.0, -0.3)
    return np.sin(0.7 * np.hypot(yy - 10 + a, xx - 10 + b))


def target_set(n):
    y = rng.integers(0, 5, n)
    x = np.stack([surface(k) for k in y])
    return (x + rng.normal(0, 0.4, x.shape))[..., None].astype("float32"), y


def make_base():
    return keras.Sequential([
        keras.Input((S, S, 1)),
        layers.Conv2D(6, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(8, 3, activation="relu"),
        layers.GlobalAveragePooling2D(),
    ], name="base")


# stage 1: the two-way source problem
base = make_base()
source = keras.Sequential([base, layers.Dense(2, activation="softmax")])
source.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
source.fit(*source_set(800), epochs=6, batch_size=32, verbose=2)

# stage 2: new head on top of the fixed base
x_train, y_train = target_set(900)
x_val, y_val = target_set(250)
base.trainable = False
inputs = keras.Input((S, S, 1))
outputs = layers.Dense(5, activation="softmax")(base(inputs))
model = keras.Model(inputs, outputs)
model.compile(keras.optimizers.Adam(3e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
first = model.fit(x_train, y_train, validation_data=(x_val, y_val), epochs=5, batch_size=32, verbose=2)

# stage 3: fine-tune everything
base.trainable = True
model.fit(x_train, y_train, validation_data=(x_val, y_val), batch_size=32, verbose=2,
          initial_epoch=first.epoch[-1] + 1, epochs=20)
print("fine-tuned accuracy:", round(model.evaluate(x_val, y_val, verbose=0)[1], 3))
