import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import tf_keras as keras
from sklearn.metrics import confusion_matrix
from transformers import BertConfig, TFBertModel

keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)

# band centres (channel), relative heights
BANDS = {
    "PE": [(40, .9), (130, .5), (200, .3)],
    "PP": [(54, .8), (112, .5), (178, .4)],
    "PS": [(60, .7), (130, .4), (215, .5)],
    "PET": [(90, .9), (150, .7), (205, .3)],
    "PVC": [(70, .5), (125, .5), (230, .6)],
}
NAMES = list(BANDS)
CHANNELS, WINDOW = 256, 16


def spectrum(name):
    grid = np.arange(CHANNELS)
    signal = np.zeros(CHANNELS)
    for centre, height in BANDS[name]:
        width = rng.uniform(5, 9)
        signal += height * rng.uniform(.6, 1.4) * np.exp(-((grid - centre - rng.normal(0, 2)) ** 2) / (2 * width ** 2))
    baseline = rng.uniform(0, .4) + rng.uniform(-.4, .4) * grid / CHANNELS
    return signal + baseline + rng.normal(0, .08, CHANNELS)


def snv(x):
    return (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)


labels = rng.integers(0, len(NAMES), 1500)
spectra = snv(np.stack([spectrum(NAMES[k]) for k in labels])).astype("float32")
windows = spectra.reshape(-1, CHANNELS // WINDOW, WINDOW)
cut = 1200


def pipeline(x, y, training=False):
    data = tf.data.Dataset.from_tensor_slices((x, y))
    if training:
        data = data.shuffle(2048, seed=5)
        data = data.map(lambda a, b: (a + tf.random.normal(tf.shape(a), stddev=0.05), b))
    return data.batch(50).prefetch(tf.data.AUTOTUNE)


class SpectrumBert(keras.Model):
    def __init__(self, config, n_classes):
        super().__init__()
        init = keras.initializers.TruncatedNormal(stddev=config.initializer_range)
        self.lift = keras.layers.Dense(config.hidden_size, kernel_initializer=init)
        self.bert = TFBertModel(config)
        self.out = keras.layers.Dense(n_classes, kernel_initializer=init)

    def call(self, x, training=False):
        states = self.bert({"inputs_embeds": self.lift(x)}, training=training)
        return self.out(states.pooler_output)


settings = dict(
    vocab_size=8,
    hidden_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=128,
    max_position_embeddings=CHANNELS // WINDOW,
    initializer_range=0.02,
    hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0,
)
model = SpectrumBert(BertConfig(**settings), len(NAMES))
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
train, test = pipeline(windows[:cut], labels[:cut], True), pipeline(windows[cut:], labels[cut:])
print("untrained loss %.3f" % model.evaluate(test, verbose=0)[0])
model.fit(train, validation_data=test, epochs=6, verbose=2)

pred = model.predict(test, verbose=0).argmax(1)
print(confusion_matrix(labels[cut:], pred))
print("test accuracy %.3f" % (pred == labels[cut:]).mean())
print("test loss %.3f" % model.evaluate(test, verbose=0)[0])
