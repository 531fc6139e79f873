"""Coin wear from surface histograms. Bin shares are tiny numbers, so plain SGD gets a very large rate."""
import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(40)
rng = np.random.default_rng(40)
BINS = 100


def coins(n):
    wear = rng.uniform(0, 1, n)
    centre = 30 + 35 * wear
    width = 10 + 8 * wear
    x = np.arange(BINS)[None]
    dens = np.exp(-0.5 * ((x - centre[:, None]) / width[:, None]) ** 2)
    dens = dens / dens.sum(1, keepdims=True)
    counts = np.stack([rng.multinomial(400, d) for d in dens])
    return (counts / 400).astype("float32"), (wear > 0.5).astype("float32")


x, y = coins(3000)
x_val, y_val = coins(1000)
print("typical input value", float(x.mean()), "largest", float(x.max()))

model = keras.Sequential([
    layers.Input((BINS,)),
    layers.Dense(1, activation="sigmoid", kernel_initializer="zeros"),
])
model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=60.0),
    loss="binary_crossentropy",
    metrics=["accuracy"],
)
model.fit(x, y, validation_data=(x_val, y_val), epochs=40, batch_size=200, verbose=2)
w = model.layers[0].kernel.numpy()[:, 0]
print("weights: low bins %.2f, middle %.2f, high bins %.2f" % (w[10:40].mean(), w[45:52].mean(), w[60:90].mean()))
print("validation accuracy %.3f" % model.evaluate(x_val, y_val, verbose=0)[1])
prob = model.predict(x_val, verbose=0)[:, 0]
for lo, hi in ((0.0, 0.2), (0.2, 0.8), (0.8, 1.01)):
    sel = (prob >= lo) & (prob < hi)
    print(f"predicted {lo:.1f}..{hi:.1f}: {sel.sum():4d} coins, worn {y_val[sel].mean():.2f}")
