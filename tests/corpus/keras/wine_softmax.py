"""Softmax regression on assay fractions, plain SGD. The features are small numbers (fractions of a
gram that sum to one over 30 compounds), so the step has to be large."""
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(31)
rng = np.random.default_rng(31)

N, COMPOUNDS, REGIONS = 6000, 30, 5
profile = rng.dirichlet(np.ones(COMPOUNDS) * 2, size=REGIONS)
region = rng.integers(REGIONS, size=N)
x = np.stack([rng.dirichlet(profile[r] * 60) for r in region]).astype("float32")
y = region.astype("int32")

print("feature mean %.4f  std %.4f" % (x.mean(), x.std()))

model = keras.Sequential([
    keras.Input((COMPOUNDS,)),
    layers.Dense(REGIONS, activation="softmax"),
])
model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=25.0),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(x[:5000], y[:5000], validation_data=(x[5000:], y[5000:]), epochs=25, batch_size=100, verbose=2)

pred = model.predict(x[5000:], verbose=0).argmax(1)
table = np.zeros((REGIONS, REGIONS), int)
np.add.at(table, (y[5000:], pred), 1)
print(table)
print("test accuracy", np.mean(pred == y[5000:]))
