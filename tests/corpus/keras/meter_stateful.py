import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(131)
rng = np.random.default_rng(131)

HOUSES = 32
CHUNK = 12
CHUNKS = 30


def meter_readings(houses, steps):
    t = np.arange(steps + 1)
    daily = np.sin(2 * np.pi * (t[None, :] / 24 + rng.random((houses, 1))))
    heat = np.zeros((houses, steps + 1))
    push = (rng.random((houses, steps + 1)) < 0.05).astype(float)
    for k in range(1, steps + 1):
        heat[:, k] = 0.93 * heat[:, k - 1] + push[:, k - 1]
    load = 0.5 * daily + heat
    seen = np.stack([0.5 * daily + rng.normal(0, 0.05, daily.shape), push], axis=-1)
    return seen[:, :-1].astype("float32"), load[:, 1:, None].astype("float32")


def to_ordered_batches(x, y):
    xs = [x[:, k * CHUNK:(k + 1) * CHUNK] for k in range(CHUNKS)]
    ys = [y[:, k * CHUNK:(k + 1) * CHUNK] for k in range(CHUNKS)]
    return np.concatenate(xs), np.concatenate(ys)


class ForgetBetweenEpochs(keras.callbacks.Callback):
    def __init__(self, rnn):
        super().__init__()
        self.rnn = rnn

    def on_epoch_begin(self, epoch, logs=None):
        self.rnn.reset_states()

    def on_test_begin(self, logs=None):
        self.rnn.reset_states()


rnn = layers.GRU(24, return_sequences=True, stateful=True)
inp = layers.Input(batch_shape=(HOUSES, CHUNK, 2))
model = keras.Model(inp, layers.Dense(1)(rnn(inp)))
model.compile(optimizer=keras.optimizers.Adam(5e-3, clipnorm=1.0), loss="mse")

x, y = to_ordered_batches(*meter_readings(HOUSES, CHUNK * CHUNKS))
x_te, y_te = to_ordered_batches(*meter_readings(HOUSES, CHUNK * CHUNKS))
hist = model.fit(x, y, epochs=15, batch_size=HOUSES, shuffle=False, verbose=0,
                 callbacks=[ForgetBetweenEpochs(rnn)])
mse = model.evaluate(x_te, y_te, batch_size=HOUSES, verbose=0, callbacks=[ForgetBetweenEpochs(rnn)])
print("loss", [round(v, 4) for v in hist.history["loss"][::3]])
print(f"new houses mse {mse:.4f}  mean-predictor mse {y_te.var():.4f}  R2 {1 - mse / y_te.var():.3f}")
