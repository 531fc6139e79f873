import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

tf.random.set_seed(1)
rng = np.random.default_rng(1)

STREAMS = 8          # tide gauges that are read side by side
CHUNK = 20           # time steps in one batch
CHUNKS = 40          # batches in one pass over the record
LENGTH = CHUNK * CHUNKS + 1

t = np.arange(LENGTH)
phase = rng.uniform(0, 2 * np.pi, (STREAMS, 1))
level = np.sin(2 * np.pi * t / 12.4 + phase) + 0.5 * np.sin(2 * np.pi * t / 51.0 + 2 * phase)
level = (level + rng.normal(0, 0.05, level.shape)).astype("float32")

# batch k holds chunk k of every gauge, so the state of a row goes on where it stopped
inputs = level[:, :-1].reshape(STREAMS, CHUNKS, CHUNK, 1).transpose(1, 0, 2, 3).reshape(-1, CHUNK, 1)
targets = level[:, 1:].reshape(STREAMS, CHUNKS, CHUNK, 1).transpose(1, 0, 2, 3).reshape(-1, CHUNK, 1)

model = keras.Sequential([
    keras.Input(batch_shape=(STREAMS, CHUNK, 1)),
    layers.GRU(32, return_sequences=True, stateful=True, name="memory"),
    layers.Dense(1),
])
model.compile(optimizer=keras.optimizers.RMSprop(2e-3), loss="mse", metrics=["mae"])


class ForgetBetweenPasses(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.model.get_layer("memory").reset_state()


model.fit(inputs, targets, batch_size=STREAMS, epochs=20, shuffle=False,
          callbacks=[ForgetBetweenPasses()], verbose=2)

repeat_last = float(np.mean((targets - inputs) ** 2))
error = model.evaluate(inputs, targets, batch_size=STREAMS, verbose=0)[0]
print(f"mse {error:.4f}, repeating the last reading {repeat_last:.4f}")
