"""One long gauge record cut into consecutive pieces; the network keeps its memory between pieces."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(10)
rng = np.random.default_rng(10)
LANES, CHUNK, CHUNKS = 16, 20, 60
total = LANES * CHUNK * CHUNKS + 1
t = np.arange(total)
tide = np.sin(2 * np.pi * t / 50) + 0.4 * np.sin(2 * np.pi * t / 97 + 1)
surge = np.zeros(total)
for i in range(1, total):
    surge[i] = 0.95 * surge[i - 1] + rng.normal(0, 0.04)
level = (tide + surge).astype("float32")

# lane k holds the k-th stretch of the record; batch c holds chunk c of every lane
x = level[:-1].reshape(LANES, CHUNKS, CHUNK).transpose(1, 0, 2).reshape(-1, CHUNK, 1)
y = level[1:].reshape(LANES, CHUNKS, CHUNK).transpose(1, 0, 2).reshape(-1, CHUNK, 1)
n_train = 48 * LANES

inp = layers.Input(batch_shape=(LANES, CHUNK, 1))
h = layers.LSTM(32, stateful=True, return_sequences=True)(inp)
model = keras.Model(inp, layers.Dense(1)(h))
model.compile(keras.optimizers.Adam(4e-3, clipnorm=1.0), "mse")
memory = model.layers[1]
for epoch in range(20):
    memory.reset_state()
    fit = model.fit(x[:n_train], y[:n_train], batch_size=LANES, epochs=1, shuffle=False, verbose=0)
    # the held-out chunks come right after the training chunks of each lane, so memory goes on
    val = model.evaluate(x[n_train:], y[n_train:], batch_size=LANES, verbose=0)
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1} train mse {fit.history['loss'][0]:.5f} later mse {val:.5f}")
print("last value mse", float(np.mean((x[n_train:] - y[n_train:]) ** 2)))

# forecast error per held-out chunk, memory running on from the training part
memory.reset_state()
model.predict(x[:n_train], batch_size=LANES, verbose=0)
later = model.predict(x[n_train:], batch_size=LANES, verbose=0)
err = np.square(later - y[n_train:]).reshape(-1, LANES * CHUNK).mean(1)
print("mse by chunk", np.round(err, 5))
