"""Tree species from leaf reflectance: a linear softmax on unit-length spectra, plain SGD."""
import numpy as np
import keras

keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)

BANDS, SPECIES = 120, 7
wave = np.linspace(400, 1000, BANDS)


def curve(params):
    green, edge, height = params
    bump = 0.12 * np.exp(-((wave - green) / 25) ** 2)
    return 0.05 + bump + height / (1 + np.exp(-(wave - edge) / 12))


prototypes = [(rng.uniform(530, 575), rng.uniform(690, 725), rng.uniform(0.35, 0.6)) for _ in range(SPECIES)]
n = 4000
labels = rng.integers(0, SPECIES, n)
spectra = np.stack([
    curve(np.array(prototypes[k]) + rng.normal(size=3) * [2.5, 2.0, 0.015]) * rng.uniform(0.6, 1.4)
    for k in labels
])
spectra += rng.normal(0, 0.004, spectra.shape)

train = slice(0, 3200)
test = slice(3200, n)

# brightness depends on the lamp's distance, so each spectrum is centred and scaled to unit length
def unit(a):
    a = a / np.linalg.norm(a, axis=1, keepdims=True)
    a = a - mean_shape
    return (a / np.linalg.norm(a, axis=1, keepdims=True)).astype("float32")


mean_shape = (spectra[train] / np.linalg.norm(spectra[train], axis=1, keepdims=True)).mean(0)
x_train, x_test = unit(spectra[train]), unit(spectra[test])

model = keras.Sequential([
    keras.Input((BANDS,)),
    keras.layers.Dense(SPECIES, kernel_initializer="zeros"),
])
model.compile(
    optimizer=keras.optimizers.SGD(
        keras.optimizers.schedules.PiecewiseConstantDecay([1500, 2500], [6.0, 2.0, 0.5])
    ),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x_train, labels[train], batch_size=64, epochs=60, verbose=0,
          callbacks=[keras.callbacks.LambdaCallback(
              on_epoch_end=lambda e, logs: e % 10 == 9 and print(e + 1, {k: round(float(v), 4) for k, v in logs.items()}))])
loss, acc = model.evaluate(x_test, labels[test], verbose=0)
print(f"test loss {loss:.4f} accuracy {acc:.4f}")
