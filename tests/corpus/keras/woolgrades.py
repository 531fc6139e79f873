"""Grade fleeces from the readings of a hand-held fibre scanner (several readings per fleece)."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import pandas as pd
import keras
from keras import layers

keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)
GRADES = ["coarse", "medium", "fine", "superfine"]
N, READINGS = 1200, 12


def make_log():
    """One line per reading, in the order in which the fleeces came over the table."""
    tags = rng.permutation(np.arange(10000, 10000 + N))
    grade = rng.integers(0, 4, N)
    frames = []
    for tag, g in zip(tags, grade):
        micron = rng.normal(30 - 3.2 * g, 2.0, READINGS)
        crimp = rng.normal(3 + 1.1 * g, 1.5, READINGS)
        length = rng.normal(90 - 4 * g, 12, READINGS)
        frames.append(pd.DataFrame({"tag": tag, "micron": micron, "crimp": crimp,
                                    "length": length, "grade": GRADES[g]}))
    return pd.concat(frames, ignore_index=True)


log = make_log()
cols = ["micron", "crimp", "length"]
log[cols] = (log[cols] - log[cols].mean()) / log[cols].std()

groups = log.groupby("tag")
X = np.stack([g[cols].to_numpy("float32") for _, g in groups])
y = log.drop_duplicates("tag")["grade"].map(GRADES.index).to_numpy()
print("fleeces", X.shape, "labels", np.bincount(y))

order = rng.permutation(len(X))
tr, te = order[:900], order[900:]

model = keras.Sequential([
    keras.Input((READINGS, 3)),
    layers.Conv1D(24, 3, activation="relu"),
    layers.GlobalAveragePooling1D(),
    layers.Dense(24, activation="relu"),
    layers.Dense(4, activation="softmax"),
])
model.compile(keras.optimizers.Adam(5e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(X[tr], y[tr], epochs=10, batch_size=32, validation_split=0.1, verbose=2)
loss, acc = model.evaluate(X[te], y[te], verbose=0)
print(f"test loss {loss:.3f} accuracy {acc:.3f}")
