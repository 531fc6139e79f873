"""Echo-state style forecast of a chaotic surge level: the random recurrent part is never trained."""
import numpy as np
import keras
from keras import layers, ops

keras.utils.set_random_seed(77)
UNITS, CHUNK, STREAMS, AHEAD = 300, 50, 4, 10


def mackey_glass(n, tau=17, seed=0):
    r = np.random.default_rng(seed)
    s = list(1.2 + 0.2 * r.random(tau + 1))
    for _ in range(n + 500):
        s.append(s[-1] + 0.2 * s[-1 - tau] / (1 + s[-1 - tau] ** 10) - 0.1 * s[-1])
    return np.array(s[-n:])


class SpectralRadius(keras.initializers.Initializer):
    def __init__(self, rho, seed):
        self.rho, self.seed = rho, seed

    def __call__(self, shape, dtype=None):
        r = np.random.default_rng(self.seed)
        w = r.normal(size=shape) * (r.random(shape) < 0.1)
        return ops.convert_to_tensor((w * self.rho / np.abs(np.linalg.eigvals(w)).max()).astype("float32"))


def chunks(series):
    """(time, streams) -> stateful order: batch k+1 continues batch k, stream by stream."""
    steps = (len(series[0]) - AHEAD) // CHUNK
    xs, ys = [], []
    for k in range(steps):
        for s in series:
            xs.append(s[k * CHUNK:(k + 1) * CHUNK])
            ys.append(s[k * CHUNK + AHEAD:(k + 1) * CHUNK + AHEAD])
    return np.array(xs, "float32")[..., None], np.array(ys, "float32")[..., None]


streams = [mackey_glass(4000, seed=i) - 0.93 for i in range(STREAMS)]
train_x, train_y = chunks([s[:3000] for s in streams])
test_x, test_y = chunks([s[3000:] for s in streams])

inp = keras.Input(batch_shape=(STREAMS, CHUNK, 1))
reservoir = layers.SimpleRNN(
    UNITS, return_sequences=True, stateful=True, activation="tanh", trainable=False,
    kernel_initializer=keras.initializers.RandomUniform(-0.8, 0.8, seed=2),
    recurrent_initializer=SpectralRadius(0.95, seed=3),
    bias_initializer=keras.initializers.RandomUniform(-0.2, 0.2, seed=4),
)
states = reservoir(inp)
readout = layers.Dense(1)(layers.Concatenate()([states, inp]))
model = keras.Model(inp, readout)
model.compile(optimizer=keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 60 * 40)), loss="mse")
print("trained weights:", sum(int(np.prod(w.shape)) for w in model.trainable_weights), "of", model.count_params())

for epoch in range(40):
    reservoir.reset_states()
    h = model.fit(train_x, train_y, batch_size=STREAMS, epochs=1, shuffle=False, verbose=0)
    if epoch % 8 == 7:
        print(f"epoch {epoch + 1} mse {h.history['loss'][0]:.5f}")

reservoir.reset_states()
pred = model.predict(test_x, batch_size=STREAMS, verbose=0)
rmse = np.sqrt(np.mean((pred[STREAMS:] - test_y[STREAMS:]) ** 2))
naive = np.sqrt(np.mean((test_x[STREAMS:] - test_y[STREAMS:]) ** 2))
print(f"rmse {rmse:.4f}   persistence {naive:.4f}   spread {test_y.std():.4f}")
