import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
from keras import layers

STREAMS, CHUNK, STEPS = 32, 24, 30


def meter_streams(seed, steps=STEPS):
    rng = np.random.default_rng(seed)
    total = steps * CHUNK
    inflow = (rng.random((STREAMS, total)) < 0.06) * rng.uniform(0.3, 1.0, (STREAMS, total))
    level = np.zeros((STREAMS, total))
    for t in range(1, total):
        level[:, t] = 0.985 * level[:, t - 1] + 0.3 * inflow[:, t]
    reading = inflow + rng.normal(0, 0.02, inflow.shape)
    return reading.astype("float32")[..., None], level.astype("float32")[..., None]


def in_order(a):
    chunks = [a[:, k * CHUNK:(k + 1) * CHUNK] for k in range(a.shape[1] // CHUNK)]
    return np.concatenate(chunks, axis=0)


class FreshState(keras.callbacks.Callback):
    def _clear(self):
        for layer in self.model.layers:
            if isinstance(layer, layers.GRU):
                layer.reset_states() if hasattr(layer, "reset_states") else layer.reset_state()

    def on_epoch_begin(self, epoch, logs=None):
        self._clear()

    def on_test_begin(self, logs=None):
        self._clear()

    def on_predict_begin(self, logs=None):
        self._clear()


def build():
    inp = keras.Input(batch_shape=(STREAMS, CHUNK, 1))
    h = layers.GRU(24, stateful=True, return_sequences=True)(inp)
    return keras.Model(inp, layers.Dense(1)(h))


def main():
    keras.utils.set_random_seed(14)
    x, y = (in_order(a) for a in meter_streams(0))
    x_test, y_test = (in_order(a) for a in meter_streams(1))
    model = build()
    model.compile(optimizer=keras.optimizers.Adam(5e-3, clipnorm=1.0), loss="mse")
    fresh = FreshState()
    hist = model.fit(x, y, batch_size=STREAMS, epochs=40, shuffle=False, callbacks=[fresh], verbose=0)
    for e in range(4, 40, 5):
        print(f"epoch {e + 1}: mse {hist.history['loss'][e]:.4f}")
    guess = model.predict(x_test, batch_size=STREAMS, callbacks=[fresh], verbose=0)
    mse = np.mean((guess - y_test) ** 2)
    print(f"test mse {mse:.4f}  variance {y_test.var():.4f}  R2 {1 - mse / y_test.var():.3f}")


if __name__ == "__main__":
    main()
