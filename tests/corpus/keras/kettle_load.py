"""Next-minute household load from a long recording, read in order with a stateful GRU."""
import keras
import numpy as np
from keras import layers

STREAMS, STEPS, CHUNKS = 16, 20, 60
keras.utils.set_random_seed(77)
rng = np.random.default_rng(77)


def recording(minutes):
    """A switch flips now and then; the load depends on what was switched on long before."""
    level, out, cmd = 0.0, [], []
    for _ in range(minutes):
        c = rng.choice([0, 1, -1], p=[0.94, 0.03, 0.03])
        if c:
            level = float(c)
        cmd.append(c)
        out.append(level + 0.05 * rng.normal())
    return np.array(cmd, "float32"), np.array(out, "float32")


def as_chunks(streams, chunks):
    xs, ys = zip(*[recording(STEPS * chunks) for _ in range(streams)])
    x = np.stack(xs).reshape(streams, chunks, STEPS, 1)
    y = np.stack(ys).reshape(streams, chunks, STEPS, 1)
    # batch i of the array holds chunk i of every stream
    return (
        x.transpose(1, 0, 2, 3).reshape(-1, STEPS, 1),
        y.transpose(1, 0, 2, 3).reshape(-1, STEPS, 1),
    )


class ForgetAtEpoch(keras.callbacks.Callback):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def on_epoch_begin(self, epoch, logs=None):
        self.layer.reset_states()

    def on_test_begin(self, logs=None):
        self.layer.reset_states()


gru = layers.GRU(24, stateful=True, return_sequences=True)
inp = keras.Input(batch_shape=(STREAMS, STEPS, 1))
model = keras.Model(inp, layers.Dense(1)(gru(inp)))
model.compile(keras.optimizers.Adam(5e-3), loss="mse")

x, y = as_chunks(STREAMS, CHUNKS)
vx, vy = as_chunks(STREAMS, 20)
for epoch in range(25):
    h = model.fit(x, y, batch_size=STREAMS, epochs=1, shuffle=False, verbose=0,
                  callbacks=[ForgetAtEpoch(gru)])
    if epoch % 4 == 0:
        val = model.evaluate(vx, vy, batch_size=STREAMS, verbose=0, callbacks=[ForgetAtEpoch(gru)])
        print(f"epoch {epoch:2d} train mse {h.history['loss'][0]:.4f} val mse {val:.4f}")
gru.reset_states()
pred = model.predict(vx, batch_size=STREAMS, verbose=0)
print("val R2", 1 - np.mean((pred - vy) ** 2) / np.var(vy), "noise floor mse", 0.05**2)
