"""Which mineral? Softmax regression on faint emission-line intensities, plain SGD."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(40)
rng = np.random.default_rng(40)

LINES, MINERALS, SCALE = 60, 9, 0.02
signature = rng.gamma(1.0, 1.0, (MINERALS, LINES))


def spectra(n):
    y = rng.integers(0, MINERALS, n)
    x = signature[y] * rng.uniform(0.7, 1.3, (n, 1)) + rng.normal(0, 0.9, (n, LINES))
    return (SCALE * x).astype("float32"), y


x, y = spectra(6000)
xv, yv = spectra(1500)
print("feature standard deviation:", x.std().round(4))

# intensities stay in physical units, so the weights have to become large
model = keras.Sequential([keras.Input((LINES,)), layers.Dense(MINERALS, kernel_initializer="zeros")])
model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=15.0),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x, y, validation_data=(xv, yv), batch_size=200, epochs=20, verbose=2)

w = model.layers[-1].kernel.numpy()
print("largest weight:", np.abs(w).max().round(1))
print("val accuracy:", round(float(model.evaluate(xv, yv, verbose=0)[1]), 4))

pred = model.predict(xv, verbose=0).argmax(axis=1)
confusion = np.zeros((MINERALS, MINERALS), dtype=int)
np.add.at(confusion, (yv, pred), 1)
print("confusion (rows: true mineral)")
for row in confusion:
    print(" ".join(f"{c:4d}" for c in row))
