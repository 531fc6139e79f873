# Water level behind a lock: hidden slow state, so the recurrent state is carried from chunk to chunk.
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(50)
BASINS, CHUNK = 16, 20


def run(steps, seed):
    """Gate commands (+1 open, -1 close, mostly nothing) move a latched gate; level relaxes to it."""
    r = np.random.default_rng(seed)
    cmd = np.zeros((BASINS, steps))
    fire = r.random((BASINS, steps)) < 0.03
    cmd[fire] = r.choice([-1.0, 1.0], fire.sum())
    gate, level = np.zeros(BASINS), np.zeros(BASINS)
    out = np.zeros((BASINS, steps))
    for t in range(steps):
        gate = np.where(cmd[:, t] != 0, cmd[:, t], gate)
        level += 0.15 * (gate - level)
        out[:, t] = level
    out += r.normal(0, 0.03, out.shape)
    return cmd[..., None].astype("float32"), out[..., None].astype("float32")


def chunked(arr):
    """(basin, time, 1) -> chunks ordered so that row k of every batch is basin k, moving on in time."""
    n = arr.shape[1] // CHUNK
    parts = [arr[:, i * CHUNK:(i + 1) * CHUNK] for i in range(n)]
    return np.concatenate(parts, 0)


class ResetEachEpoch(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.model.get_layer("memory").reset_states()

    def on_test_begin(self, logs=None):
        self.model.get_layer("memory").reset_states()


cmd, level = run(2000, 1)
cmd_t, level_t = run(600, 2)

inp = keras.Input(batch_shape=(BASINS, CHUNK, 1))
h = layers.GRU(24, return_sequences=True, stateful=True, name="memory")(inp)
model = keras.Model(inp, layers.Dense(1)(h))
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(6e-3, 3000), clipnorm=1.0), "mse")
model.fit(chunked(cmd), chunked(level), batch_size=BASINS, shuffle=False, epochs=30,
          validation_data=(chunked(cmd_t), chunked(level_t)), callbacks=[ResetEachEpoch()], verbose=2)

model.get_layer("memory").reset_states()
pred = model.predict(chunked(cmd_t), batch_size=BASINS, verbose=0)
err = np.mean((pred - chunked(level_t)) ** 2)
print("test RMSE %.3f (noise 0.03, spread %.3f)" % (err ** 0.5, level_t.std()))
