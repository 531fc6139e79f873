"""Water temperature of 16 lakes, read on in time: state is carried from one window to the next, so nothing is shuffled."""
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(55)
rng = np.random.default_rng(55)
LAKES, WIN, WINDOWS = 16, 20, 40
DAYS = WIN * WINDOWS


def simulate(seed):
    g = np.random.default_rng(seed)
    slow = g.uniform(0.02, 0.05, LAKES)
    air = np.zeros((LAKES, DAYS))
    water = np.zeros((LAKES, DAYS))
    weather = np.zeros(LAKES)
    w = g.normal(0, 1, LAKES)
    for d in range(DAYS):
        weather = 0.9 * weather + 0.5 * g.normal(size=LAKES)
        air[:, d] = np.sin(2 * np.pi * d / 365) + weather
        w = w + slow.mean() * (air[:, d] - w)
        water[:, d] = w
    return air.astype("float32"), water.astype("float32")


def windows(a):
    # window k of every lake comes before window k+1 of any lake; row i of a batch is always lake i
    return a.reshape(LAKES, WINDOWS, WIN).transpose(1, 0, 2).reshape(WINDOWS * LAKES, WIN, 1)


class Forget(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        for layer in self.model.layers:
            if hasattr(layer, "reset_state"):
                layer.reset_state()


air, water = simulate(1)
air2, water2 = simulate(2)

inp = keras.Input(batch_shape=(LAKES, WIN, 1))
h = layers.GRU(24, return_sequences=True, stateful=True)(inp)
out = layers.Dense(1)(h)
model = keras.Model(inp, out)
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mse")
model.fit(windows(air), windows(water) * 2, batch_size=LAKES, shuffle=False, epochs=30, callbacks=[Forget()], verbose=2)

for layer in model.layers:
    if hasattr(layer, "reset_state"):
        layer.reset_state()
p = model.predict(windows(air2), batch_size=LAKES, verbose=0)
truth = windows(water2) * 2
err = (p - truth).reshape(WINDOWS, LAKES, WIN)[4:]
print("rmse on another decade %.3f, spread %.3f" % (np.sqrt((err ** 2).mean()), truth.std()))
