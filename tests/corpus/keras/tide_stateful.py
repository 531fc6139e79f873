"""Tide gauge: a stateful LSTM reads eight long records side by side, chunk after chunk, in order."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import keras
from keras import layers

STATIONS, CHUNK, STEPS = 8, 24, 2400


def gauge(seed):
    rng = np.random.default_rng(seed)
    t = np.arange(STEPS + 1)[None]
    phase = rng.uniform(0, 2 * np.pi, (STATIONS, 2))
    amp = rng.uniform(0.8, 1.2, (STATIONS, 1))
    level = amp * np.sin(2 * np.pi * t / 12.42 + phase[:, :1]) + 0.4 * np.sin(2 * np.pi * t / 25.8 + phase[:, 1:])
    return (level + rng.normal(0, 0.05, level.shape)).astype("float32")


def chunks(level):
    # batch k holds chunk k of every station, so row r always continues row r of the batch before
    x, y = [], []
    for s in range(0, STEPS, CHUNK):
        x.append(level[:, s:s + CHUNK, None])
        y.append(level[:, s + 1:s + CHUNK + 1, None])
    return np.concatenate(x), np.concatenate(y)


def build(batch):
    inp = keras.Input(batch_shape=(batch, CHUNK, 1))
    h = layers.LSTM(32, stateful=True, return_sequences=True, name="memory")(inp)
    return keras.Model(inp, layers.Dense(1)(h))


keras.utils.set_random_seed(14)
x, y = chunks(gauge(1))
xv, yv = chunks(gauge(2))
model = build(STATIONS)
model.compile(optimizer=keras.optimizers.Adam(5e-3, clipnorm=1.0), loss="mse")
memory = model.get_layer("memory")

for epoch in range(12):
    memory.reset_states()
    loss = model.fit(x, y, batch_size=STATIONS, epochs=1, shuffle=False, verbose=0).history["loss"][0]
    memory.reset_states()
    val = model.evaluate(xv, yv, batch_size=STATIONS, verbose=0)
    print(f"epoch {epoch:2d} loss {loss:.5f} val {val:.5f}")

naive = float(np.mean((xv - yv) ** 2))
print(f"val rmse {val ** 0.5:.4f}, persistence rmse {naive ** 0.5:.4f}")
