"""Stateful GRU over 16 parallel meter streams; chunks must stay in time order."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import keras
from keras import layers

STREAMS, CHUNK = 16, 25


def streams(length, seed):
    """Leaky tank level fed by a noisy pump and cut by valve openings; memory outlives a chunk."""
    r = np.random.default_rng(seed)
    pump = r.normal(0, 1, (STREAMS, length))
    valve = (r.random((STREAMS, length)) < 0.01).astype(float)
    target = np.zeros((STREAMS, length))
    for t in range(1, length):
        target[:, t] = (0.99 * target[:, t - 1] + 0.15 * pump[:, t]) * (1 - 0.8 * valve[:, t])
    x = np.stack([pump, valve], -1)
    return x.astype("float32"), target[..., None].astype("float32")


def to_chunks(a):
    n = a.shape[1] // CHUNK
    parts = [a[:, k * CHUNK : (k + 1) * CHUNK] for k in range(n)]
    return np.concatenate(parts, 0)


class ResetEachEpoch(keras.callbacks.Callback):
    def __init__(self, rnn):
        super().__init__()
        self.rnn = rnn

    def on_epoch_begin(self, epoch, logs=None):
        self.rnn.reset_states()

    def on_test_begin(self, logs=None):
        self.rnn.reset_states()


keras.utils.set_random_seed(30)
xtr, ytr = map(to_chunks, streams(3000, 0))
xva, yva = map(to_chunks, streams(1000, 1))

rnn = layers.GRU(32, return_sequences=True, stateful=True)
inp = keras.Input(batch_shape=(STREAMS, CHUNK, 2))
h = rnn(inp)
h = layers.Dense(32, activation="relu")(layers.Concatenate()([h, inp]))
model = keras.Model(inp, layers.Dense(1)(h))
model.compile(optimizer=keras.optimizers.Adam(3e-3, clipnorm=1.0), loss="mse")
model.fit(xtr, ytr, batch_size=STREAMS, shuffle=False, epochs=18,
          validation_data=(xva, yva), callbacks=[ResetEachEpoch(rnn)], verbose=2)
print("target variance", float(yva.var()))
