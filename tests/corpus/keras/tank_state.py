"""Track the level of water tanks from their inflow with a recurrent net that keeps its state."""
import keras
import numpy as np
from keras import layers

TANKS = 32
CHUNK = 10
CHUNKS = 30


def simulate(seed):
    rng = np.random.default_rng(seed)
    n = CHUNK * CHUNKS
    inflow = (rng.random((TANKS, n)) < 0.08) * rng.gamma(3.0, 1.0, (TANKS, n))
    level = np.zeros((TANKS, n))
    for t in range(1, n):
        level[:, t] = 0.97 * level[:, t - 1] + inflow[:, t]
    return inflow.astype("float32")[..., None], (level / 5.0).astype("float32")[..., None]


def as_rows(a):
    parts = a.reshape(TANKS, CHUNKS, CHUNK, 1).transpose(1, 0, 2, 3)
    return parts.reshape(TANKS * CHUNKS, CHUNK, 1)


class ForgetBetweenEpochs(keras.callbacks.Callback):
    def __init__(self, recurrent):
        super().__init__()
        self.recurrent = recurrent

    def on_epoch_begin(self, epoch, logs=None):
        self.recurrent.reset_state()


keras.utils.set_random_seed(14)
memory = layers.GRU(24, return_sequences=True, stateful=True)
model = keras.Sequential(
    [
        keras.Input(batch_shape=(TANKS, CHUNK, 1)),
        memory,
        layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(5e-3, clipnorm=1.0), loss="mse")

inflow, level = simulate(0)
x, y = as_rows(inflow), as_rows(level)
log = model.fit(
    x, y, epochs=60, batch_size=TANKS, shuffle=False, callbacks=[ForgetBetweenEpochs(memory)], verbose=0
).history
for e in range(0, 60, 10):
    print(f"epoch {e:2d}  loss {log['loss'][e]:.4f}")

inflow, level = simulate(1)
memory.reset_state()
pred = model.predict(as_rows(inflow), batch_size=TANKS, verbose=0)
truth = as_rows(level)
mse = float(np.mean((pred - truth) ** 2))

stateless = np.zeros_like(truth)
fresh = as_rows(inflow)[:, :, 0]
for t in range(CHUNK):
    stateless[:, t, 0] = sum(0.97 ** (t - s) * fresh[:, s] for s in range(t + 1)) / 5.0
stateless += (truth - stateless).mean()
print(f"test mse {mse:.4f}  (chunk only {np.mean((stateless - truth) ** 2):.4f}, variance {truth.var():.4f})")
