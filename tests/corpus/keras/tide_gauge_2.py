"""One gauge, one long record, read in order with a stateful LSTM."""
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(9)

LANES, CHUNK, PASSES = 8, 20, 14


def record(hours, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    level = 1.2 * np.sin(2 * np.pi * t / 12.42) + 0.5 * np.sin(2 * np.pi * t / 24.07 + 1)
    surge = np.zeros(hours)
    for i in range(1, hours):
        surge[i] = 0.95 * surge[i - 1] + rng.normal(0, 0.05)
    return (level + surge + rng.normal(0, 0.03, hours)).astype("float32")


def lanes(series):
    """Cut the record into LANES parallel strips, then into consecutive chunks."""
    usable = (len(series) - 1) // (LANES * CHUNK) * LANES * CHUNK
    a = series[:usable].reshape(LANES, -1, CHUNK)
    b = series[1 : usable + 1].reshape(LANES, -1, CHUNK)
    a = a.transpose(1, 0, 2).reshape(-1, CHUNK, 1)
    b = b.transpose(1, 0, 2).reshape(-1, CHUNK, 1)
    return a, b


class ForgetBetweenPasses(keras.callbacks.Callback):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def on_epoch_begin(self, epoch, logs=None):
        self.layer.reset_states()


series = record(9600, 0)
x_tr, y_tr = lanes(series[:8000])
x_te, y_te = lanes(series[8000:])

lstm = layers.LSTM(24, stateful=True, return_sequences=True)
inp = keras.Input(batch_shape=(LANES, CHUNK, 1))
model = keras.Model(inp, layers.Dense(1)(lstm(inp)))
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mse", metrics=["mae"])
model.fit(x_tr, y_tr, batch_size=LANES, epochs=PASSES, shuffle=False, verbose=2,
          callbacks=[ForgetBetweenPasses(lstm)])

lstm.reset_states()
pred = model.predict(x_te, batch_size=LANES, verbose=0)
mae = np.abs(pred - y_te)[LANES:].mean()
naive = np.abs(x_te - y_te)[LANES:].mean()
print(f"one-hour-ahead MAE {mae:.4f} m, persistence {naive:.4f} m")
