import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import re

import numpy as np
import tensorflow as tf
import tf_keras as keras
from transformers import DistilBertConfig, TFDistilBertModel

tf.random.set_seed(3)
rng = np.random.default_rng(3)

GOOD = "lovely crisp tasty friendly superb generous warm charming fresh perfect".split()
BAD = "stale rude bland greasy noisy dirty cold overpriced slow awful".split()
NEUTRAL = "the a was and waiter food table evening menu place soup we our with very quite".split()


def write_review(positive):
    own, other = (GOOD, BAD) if positive else (BAD, GOOD)
    words = list(rng.choice(NEUTRAL, rng.integers(4, 14)))
    words += list(rng.choice(own, rng.integers(2, 4))) + list(rng.choice(other, rng.integers(0, 2)))
    rng.shuffle(words)
    return " ".join(words)


labels = rng.integers(0, 2, 1800)
reviews = [write_review(y == 1) for y in labels]
for i in rng.choice(len(reviews), 14, replace=False):
    reviews[i] = rng.choice(["", "!!!", ":)", "10/10"])

PAD, CLS, SEP, UNK = 0, 1, 2, 3
vocab = {w: i + 4 for i, w in enumerate(sorted(set(GOOD + BAD + NEUTRAL)))}


def encode(texts, max_len=22):
    ids = np.full((len(texts), max_len), PAD, "int32")
    for row, text in enumerate(texts):
        words = re.findall(r"[a-z]+", text.lower())
        seq = [CLS] + [vocab.get(w, UNK) for w in words][: max_len - 2] + [SEP]
        ids[row, : len(seq)] = seq
    return ids


class MoodModel(keras.Model):
    def __init__(self, config):
        super().__init__()
        self.encoder = TFDistilBertModel(config)
        self.head = keras.layers.Dense(1)
        self.loss_fn = keras.losses.BinaryCrossentropy(from_logits=True)
        self.loss_avg = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.loss_avg]

    def call(self, ids, training=False):
        attend = tf.cast(ids != PAD, tf.int32)
        states = self.encoder(ids, attention_mask=attend, training=training).last_hidden_state
        words = tf.cast(ids > SEP, tf.float32)[..., None]
        n_words = tf.reduce_sum(words, axis=1)
        pooled = tf.reduce_sum(states * words, axis=1) / n_words
        return self.head(pooled)[:, 0]

    def train_step(self, data):
        ids, y = data
        with tf.GradientTape() as tape:
            loss = self.loss_fn(y, self(ids, training=True))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_avg.update_state(loss)
        return {"loss": self.loss_avg.result()}

    def test_step(self, data):
        ids, y = data
        self.loss_avg.update_state(self.loss_fn(y, self(ids, training=False)))
        return {"loss": self.loss_avg.result()}


config = DistilBertConfig(vocab_size=len(vocab) + 4, dim=48, hidden_dim=96, n_layers=2, n_heads=4,
                          max_position_embeddings=32, dropout=0.05, attention_dropout=0.05)
x = encode(reviews)
y = labels.astype("float32")
cut = 1500

model = MoodModel(config)
model.compile(optimizer=keras.optimizers.Adam(1e-3))
history = model.fit(x[:cut], y[:cut], validation_data=(x[cut:], y[cut:]), epochs=4, batch_size=50, verbose=2)

logits = model.predict(x[cut:], batch_size=100, verbose=0)
print("final train loss", round(float(history.history["loss"][-1]), 4))
print("test accuracy %.3f" % np.mean((logits > 0) == (y[cut:] > 0.5)))
print("majority share %.3f" % max(y[cut:].mean(), 1 - y[cut:].mean()))
