"""Classify short waveforms (three tone words and background) with a small encoder on learned frames."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import tf_keras as keras
from transformers import BertConfig, TFBertModel

keras.utils.set_random_seed(61)
rng = np.random.default_rng(61)
RATE, SECONDS = 4000, 0.5
SAMPLES = int(RATE * SECONDS)
WORDS = {"rise": (1, 1.8), "fall": (1.8, 1), "flat": (1.4, 1.4)}
LABELS = list(WORDS) + ["background"]


def utter(label):
    t = np.arange(SAMPLES) / RATE
    noise = rng.normal(0, 1, SAMPLES) * rng.uniform(.1, .4)
    if label == "background":
        wave = noise * 3
    else:
        start, stop = WORDS[label]
        base = rng.uniform(250, 500)
        freq = base * (start + (stop - start) * t / SECONDS)
        phase = 2 * np.pi * np.cumsum(freq) / RATE
        wave = np.sin(phase + rng.uniform(0, 6.28)) + .3 * np.sin(2 * phase) + noise
    return (wave * 10 ** rng.uniform(2, 3.5)).clip(-32768, 32767).astype("int16")


y = rng.integers(0, len(LABELS), 1400)
waves = np.stack([utter(LABELS[k]) for k in y])
cut = 1100


class LogSpectrogram(keras.layers.Layer):
    def __init__(self, width, frame=128, hop=64, **kwargs):
        super().__init__(**kwargs)
        self.frame, self.hop = frame, hop
        self.norm = keras.layers.LayerNormalization(axis=[1, 2], center=False, scale=False)
        self.project = keras.layers.Conv1D(width, 5, padding="same")

    def call(self, wave):
        wave = tf.cast(wave, tf.float32)
        power = tf.abs(tf.signal.stft(wave, self.frame, self.hop)) ** 2
        return self.project(self.norm(tf.math.log(power + 1.0)))


class ToneClassifier(keras.Model):
    def __init__(self, config, n_labels):
        super().__init__()
        self.front = LogSpectrogram(config.hidden_size)
        self.encoder = TFBertModel(config, add_pooling_layer=False)
        self.out = keras.layers.Dense(n_labels)

    def call(self, wave, training=False):
        frames = self.front(wave)
        states = self.encoder({"inputs_embeds": frames}, training=training).last_hidden_state
        return self.out(tf.reduce_mean(states, axis=1))


config = BertConfig(vocab_size=1, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
                    max_position_embeddings=40, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
model = ToneClassifier(config, len(LABELS))
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(waves[:cut], y[:cut], validation_data=(waves[cut:], y[cut:]), epochs=5, batch_size=32, verbose=2)
loss, accuracy = model.evaluate(waves[cut:], y[cut:], verbose=0)
print("test loss %.3f accuracy %.3f" % (loss, accuracy))
print("largest class share %.3f" % (np.bincount(y[cut:]).max() / len(y[cut:])))
