"""Stateful LSTM over four long recordings of a pump; chunks follow one another."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import keras
from keras import layers

STREAMS, CHUNK, CHUNKS = 4, 25, 60
keras.utils.set_random_seed(17)
rng = np.random.default_rng(17)


def stream(length):
    """The load switches seldom; the current answers slowly, so long memory is of use."""
    valve = np.zeros((length, 2))      # pulses: opened, closed
    on = np.zeros(length)
    state = 0
    for t in range(length):
        if rng.random() < 0.03:
            state = 1 - state
            valve[t, 1 - state] = 1.0
        on[t] = state
    cur = np.zeros(length)
    for t in range(1, length):
        cur[t] = cur[t - 1] + 0.15 * (on[t] * 2 - 1 - cur[t - 1])
    return valve, cur


valves, currents = zip(*[stream(CHUNK * CHUNKS) for _ in range(STREAMS)])
x = np.stack(valves).reshape(STREAMS, CHUNKS, CHUNK, 2)
y = np.stack(currents).reshape(STREAMS, CHUNKS, CHUNK, 1)
# row order: chunk 0 of every stream, chunk 1 of every stream, ...
x = x.transpose(1, 0, 2, 3).reshape(-1, CHUNK, 2).astype("float32")
y = y.transpose(1, 0, 2, 3).reshape(-1, CHUNK, 1).astype("float32")
cut = STREAMS * 45

model = keras.Sequential([
    keras.Input(batch_shape=(STREAMS, CHUNK, 2)),
    layers.LSTM(24, return_sequences=True, stateful=True),
    layers.Dense(1),
])
model.compile(keras.optimizers.Adam(1e-2, clipnorm=1.0), loss="mse")


def reset():
    for layer in model.layers:
        if hasattr(layer, "reset_states"):
            layer.reset_states()


for epoch in range(60):
    reset()
    h = model.fit(x[:cut], y[:cut], batch_size=STREAMS, epochs=1, shuffle=False, verbose=0)
    if epoch % 10 == 9:
        # the states run on from the training part into the held-out part
        held = model.evaluate(x[cut:], y[cut:], batch_size=STREAMS, verbose=0)
        print(f"epoch {epoch + 1} train mse {h.history['loss'][0]:.4f} held-out mse {held:.4f}")
print("variance of the held-out target %.4f" % y[cut:].var())
