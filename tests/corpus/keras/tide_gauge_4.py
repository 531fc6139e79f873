"""Hour-ahead tide gauge residuals with a stateful GRU reading eight stations side by side."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
from keras import layers

STATIONS, HOURS, CHUNK = 8, 4000, 40
TRAIN_HOURS = 3200


def simulate(rng):
    """Surge level: slow storms, tides with station phase, and a gate that opens every ~90 hours
    and lifts the level until it closes again 30 hours later (only the edges are visible in channel 2)."""
    t = np.arange(HOURS)
    level = np.zeros((STATIONS, HOURS))
    pulse = np.zeros((STATIONS, HOURS))
    for s in range(STATIONS):
        storm = np.zeros(HOURS)
        for i in range(1, HOURS):
            storm[i] = 0.97 * storm[i - 1] + rng.normal(0, 0.05)
        gate = np.zeros(HOURS)
        at = int(rng.integers(10, 60))
        while at + 30 < HOURS:
            gate[at:at + 30] = 1.0
            pulse[s, at] = 1.0
            pulse[s, at + 30] = -1.0
            at += int(rng.integers(70, 110))
        tide = np.sin(2 * np.pi * t / 12.42 + s)
        level[s] = storm + 0.5 * tide * (1 + gate) + rng.normal(0, 0.05, HOURS)
    return np.stack([level, pulse], -1).astype("float32")


def chunks(series):
    """(station, hour, channel) -> consecutive chunks, row b of each batch always station b."""
    x, y = series[:, :-1], series[:, 1:, :1]
    n = x.shape[1] // CHUNK
    cut = lambda a: (a[:, :n * CHUNK].reshape(STATIONS, n, CHUNK, -1)
                     .transpose(1, 0, 2, 3).reshape(n * STATIONS, CHUNK, -1))
    return cut(x), cut(y)


class ResetStates(keras.callbacks.Callback):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def on_epoch_begin(self, epoch, logs=None):
        self.layer.reset_state()


def main():
    keras.utils.set_random_seed(40)
    series = simulate(np.random.default_rng(40))
    mean = series[:, :TRAIN_HOURS, :1].mean()
    std = series[:, :TRAIN_HOURS, :1].std()
    series[..., :1] = (series[..., :1] - mean) / std
    x_train, y_train = chunks(series[:, :TRAIN_HOURS])
    x_test, y_test = chunks(series[:, TRAIN_HOURS:])

    inputs = keras.Input(batch_shape=(STATIONS, CHUNK, 2))
    gru = layers.GRU(32, return_sequences=True, stateful=True)
    delta = layers.Dense(1)(gru(inputs))
    outputs = layers.Add()([inputs[..., :1], delta])     # predict the change
    model = keras.Model(inputs, outputs)
    model.compile(optimizer=keras.optimizers.Nadam(4e-3, clipvalue=0.5), loss="mse")

    hist = model.fit(
        x_train, y_train,
        batch_size=STATIONS,
        epochs=15,
        shuffle=False,
        callbacks=[ResetStates(gru)],
        verbose=0,
    )
    for e in range(2, 15, 3):
        print(f"epoch {e + 1:2d}  mse {hist.history['loss'][e]:.4f}")

    # states run on from the last training hour into the test period
    gru.reset_state()
    model.predict(x_train, batch_size=STATIONS, verbose=0)
    pred = model.predict(x_test, batch_size=STATIONS, verbose=0)
    rmse = float(np.sqrt(np.mean((pred - y_test) ** 2)))
    persistence = float(np.sqrt(np.mean((x_test[..., :1] - y_test) ** 2)))
    print(f"test rmse {rmse:.4f}   persistence {persistence:.4f}   (units of train std)")


if __name__ == "__main__":
    main()
