import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)

WHO = ["the old captain", "a tired sailor", "my sister", "the cook"]
DID = ["mended", "painted", "lost", "carried"]
WHAT = ["the red boat", "a long rope", "the lantern", "seven barrels"]
WHERE = ["in the harbour", "before dawn", "near the island", "without a word"]
text = " ".join(
    f"{rng.choice(WHO)} {rng.choice(DID)} {rng.choice(WHAT)} {rng.choice(WHERE)}." for _ in range(900)
)
chars = sorted(set(text))
codes = np.array([chars.index(c) for c in text], dtype="int32")

LANES, SPAN = 8, 32
per_lane = (len(codes) - 1) // LANES // SPAN * SPAN
lanes_in = codes[: LANES * per_lane].reshape(LANES, per_lane)
lanes_out = codes[1 : LANES * per_lane + 1].reshape(LANES, per_lane)
windows = per_lane // SPAN


def walk():
    for k in range(windows):
        piece = slice(k * SPAN, (k + 1) * SPAN)
        yield lanes_in[:, piece], lanes_out[:, piece]


spec = tf.TensorSpec((LANES, SPAN), tf.int32)
ds = tf.data.Dataset.from_generator(walk, output_signature=(spec, spec))
ds = ds.apply(tf.data.experimental.assert_cardinality(windows)).prefetch(2)


def build(lanes, span):
    return keras.Sequential([
        keras.Input(batch_shape=(lanes, span), dtype="int32"),
        layers.Embedding(len(chars), 24),
        layers.GRU(96, return_sequences=True, stateful=True, name="memory"),
        layers.Dense(len(chars)),
    ])


class StartOver(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.model.get_layer("memory").reset_state()


model = build(LANES, SPAN)
model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=1e-3, momentum=0.9, clipnorm=60.0),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="sum"),
    metrics=["sparse_categorical_accuracy"],
)
history = model.fit(ds, epochs=5, shuffle=False, callbacks=[StartOver()], verbose=2)

p = np.bincount(codes) / len(codes)
print("nats per character, letter frequencies only:", round(float(-(p * np.log(p)).sum()), 3))
print("nats per character, model:", round(history.history["loss"][-1] / (LANES * SPAN), 3))

writer = build(1, 1)
writer.set_weights(model.get_weights())
writer.get_layer("memory").reset_state()
line, current = "t", chars.index("t")
for _ in range(80):
    logits = np.array(writer(np.array([[current]], dtype="int32")))[0, 0]
    q = np.exp((logits - logits.max()) / 0.5)
    current = int(rng.choice(len(chars), p=q / q.sum()))
    line += chars[current]
print(line)
