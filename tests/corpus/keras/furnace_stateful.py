import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import keras
from keras import layers

# 16 furnaces logged side by side; each row of a batch is one furnace and the
# next batch goes on where the last one ended.
FURNACES, CHUNK, CHUNKS = 16, 20, 40


def log(seed):
    rng = np.random.default_rng(seed)
    n = CHUNK * CHUNKS
    fuel = np.repeat(rng.uniform(0, 1, (FURNACES, n // 25 + 1)), 25, axis=1)[:, :n]
    heat = np.zeros((FURNACES, n))
    for t in range(1, n):
        heat[:, t] = 0.97 * heat[:, t - 1] + 0.12 * fuel[:, t - 1]
    return fuel.astype("float32"), (heat - 2.0 + rng.normal(0, 0.05, heat.shape)).astype("float32")


def in_order(a):
    a = a.reshape(FURNACES, CHUNKS, CHUNK).transpose(1, 0, 2)
    return a.reshape(CHUNKS * FURNACES, CHUNK, 1)


class ResetAtStart(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.model.get_layer("memory").reset_state()


keras.utils.set_random_seed(12)
fuel, heat = log(0)
fuel_t, heat_t = log(1)
inp = keras.Input(batch_shape=(FURNACES, CHUNK, 1))
h = layers.GRU(24, stateful=True, return_sequences=True, name="memory")(inp)
model = keras.Model(inp, layers.Dense(1)(h))
model.compile(optimizer=keras.optimizers.Adam(4e-3, clipnorm=1.0), loss="mse")
model.fit(in_order(fuel), in_order(heat), batch_size=FURNACES, epochs=25, shuffle=False,
          callbacks=[ResetAtStart()], verbose=2)

model.get_layer("memory").reset_state()
pred = model.predict(in_order(fuel_t), batch_size=FURNACES, verbose=0)
true = in_order(heat_t)
late = slice(5 * FURNACES, None)
r2 = 1 - np.mean((pred[late] - true[late]) ** 2) / np.var(true[late])
print(f"unseen run: R2 {r2:.3f}")
