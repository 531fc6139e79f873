"""Day-ahead demand with a recurrent network; windows served in order of time."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(41)

STREAMS, CHUNK, CHUNKS = 16, 20, 60


def demand(seed=41):
    """One long series per store; a promotion lifts demand for the 15 days after it."""
    rng = np.random.default_rng(seed)
    total = CHUNK * CHUNKS
    promo = (rng.random((STREAMS, total)) < 0.04).astype("float32")
    lift = np.zeros_like(promo)
    for lag in range(1, 16):
        lift[:, lag:] += promo[:, :-lag] * (1.0 - lag / 20.0)
    week = np.sin(2 * np.pi * np.arange(total) / 7)
    sales = lift + 0.3 * week + rng.normal(0, 0.1, lift.shape)
    feats = np.stack([promo, np.broadcast_to(week, promo.shape)], -1)
    return feats.astype("float32"), sales.astype("float32")[..., None]


def interleave(a):
    """(streams, time, f) -> chunks ordered so that batch row i continues row i."""
    parts = np.split(a, a.shape[1] // CHUNK, axis=1)
    return np.concatenate(parts, axis=0)


class ResetBetweenEpochs(keras.callbacks.Callback):
    def _reset(self):
        for layer in self.model.layers:
            if getattr(layer, "stateful", False):
                layer.reset_state()

    def on_epoch_begin(self, epoch, logs=None):
        self._reset()


def build():
    net = keras.Sequential(
        [
            keras.Input(batch_shape=(STREAMS, CHUNK, 2)),
            layers.LSTM(32, stateful=True, return_sequences=True),
            layers.Dense(1),
        ]
    )
    net.compile(optimizer=keras.optimizers.Adam(5e-3, clipnorm=1.0), loss="mse")
    return net


x, y = demand()
cut = CHUNK * 45
x_tr, y_tr = interleave(x[:, :cut]), interleave(y[:, :cut])
x_all = interleave(x)

model = build()
hist = model.fit(
    x_tr,
    y_tr,
    batch_size=STREAMS,
    epochs=25,
    shuffle=False,
    callbacks=[ResetBetweenEpochs()],
    verbose=0,
)
print("train mse by epoch", np.round(hist.history["loss"][::6], 4))

for layer in model.layers:
    if getattr(layer, "stateful", False):
        layer.reset_state()
pred = model.predict(x_all, batch_size=STREAMS, verbose=0)
tail = pred[STREAMS * 45:]
truth = interleave(y)[STREAMS * 45:]
print("test mse", round(float(np.mean((tail - truth) ** 2)), 4))
print("variance of the test targets", round(float(truth.var()), 4), "(noise 0.01)")
