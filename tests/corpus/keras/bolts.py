import os
os.environ["KERAS_BACKEND"] = "tensorflow"

import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(12)
rng = np.random.default_rng(12)

# good bolts first, then the rejected ones, as the two spreadsheets came
good = rng.normal([20.0, 8.0, 1.25, 40.0], [0.15, 0.1, 0.02, 2.0], size=(900, 4))
bad = rng.normal([20.0, 8.0, 1.25, 40.0], [0.45, 0.3, 0.06, 6.0], size=(900, 4))
x = np.vstack([good, bad]).astype("float32")
y = np.concatenate([np.ones(900), -np.ones(900)]).astype("float32").reshape(-1, 1)

# every fifth row is kept for testing
test = np.arange(len(x)) % 5 == 0
mean, std = x[~test].mean(axis=0), x[~test].std(axis=0)
x = (x - mean) / std

# SVM style: the sign of the output decides
model = keras.Sequential([
    keras.Input((4,)),
    layers.Dense(32, activation="relu"),
    layers.Dense(32, activation="relu"),
    layers.Dense(1),
])


def sign_accuracy(y_true, y_pred):
    same = keras.ops.equal(keras.ops.sign(y_true), keras.ops.sign(y_pred))
    return keras.ops.mean(keras.ops.cast(same, "float32"), axis=-1)


model.compile(optimizer=keras.optimizers.SGD(0.05, momentum=0.9), loss="squared_hinge", metrics=[sign_accuracy])
model.fit(x[~test], y[~test], batch_size=32, epochs=25, verbose=2)

print(model.evaluate(x[test], y[test], verbose=0))
scores = model.predict(x[test], verbose=0)[:, 0]
print("accuracy", np.mean(np.sign(scores) == y[test][:, 0]))
