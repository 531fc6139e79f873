import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(31)
rng = np.random.default_rng(31)

# A long bit stream on every channel; the net has to give back the bit seen DELAY
# steps ago. The stream is cut into short chunks which are shown one after another.
STREAMS, CHUNK, N_CHUNKS, DELAY = 32, 10, 60, 5


def make_streams():
    bits = rng.integers(0, 2, (STREAMS, CHUNK * N_CHUNKS))
    echo = np.roll(bits, DELAY, axis=1)
    echo[:, :DELAY] = 0
    return bits, echo


def to_chunks(a):
    """(streams, time) -> rows ordered so that batch k holds chunk k of every stream"""
    a = a.reshape(STREAMS, N_CHUNKS, CHUNK)
    return a.transpose(1, 0, 2).reshape(N_CHUNKS * STREAMS, CHUNK, 1).astype("float32")


bits, echo = make_streams()
x_train, y_train = to_chunks(bits), to_chunks(echo)
bits, echo = make_streams()
x_test, y_test = to_chunks(bits), to_chunks(echo)

model = keras.Sequential([
    keras.Input(batch_shape=(STREAMS, CHUNK, 1)),
    layers.Rescaling(2.0, offset=-1.0),
    layers.LSTM(64, stateful=True, return_sequences=True),
    layers.Dense(1),
])
model.compile(
    optimizer=keras.optimizers.Adam(5e-3),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.BinaryAccuracy(threshold=0.0)],
)


class ForgetAtEpochStart(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        for layer in self.model.layers:
            if getattr(layer, "stateful", False):
                layer.reset_state()


model.fit(x_train, y_train, batch_size=STREAMS, epochs=20, shuffle=False,
          callbacks=[ForgetAtEpochStart()], verbose=2)

model.layers[1].reset_state()
loss, acc = model.evaluate(x_test, y_test, batch_size=STREAMS, verbose=0)
print(f"fresh streams: loss {loss:.4f}, bits right {acc:.4f}")
