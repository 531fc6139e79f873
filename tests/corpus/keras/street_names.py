"""Tag street names in short addresses with a tiny TFBert, own train_step via tf_keras.

Word pieces: only the first piece of a word carries a tag, all others are -100.
"""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, TFBertForTokenClassification

TAGS = ["O", "B-STREET", "I-STREET", "NUMBER"]
PAD, CLS, SEP = 0, 1, 2
NAMES = range(3, 43)          # first pieces of names (streets, people, towns share them)
TAILS = range(43, 58)         # second pieces
TYPES = range(58, 62)         # street, road, lane, square
DIGITS = range(62, 72)
OTHER = range(72, 96)
VOCAB, LENGTH = 96, 16
os.makedirs("out", exist_ok=True)
tf_keras.utils.set_random_seed(23)


def address(rng):
    ids, tags = [CLS], [-100]

    def word(first, tag, tail=False):
        ids.append(int(first))
        tags.append(tag)
        if tail:
            ids.append(int(rng.choice(TAILS)))
            tags.append(-100)

    for _ in range(rng.integers(0, 3)):
        word(rng.choice(OTHER), 0)
    if rng.random() < 0.5:
        word(rng.choice(NAMES), 0, rng.random() < 0.4)        # a person or a town
    word(rng.choice(NAMES), 1, rng.random() < 0.4)
    word(rng.choice(TYPES), 2)
    word(rng.choice(DIGITS), 3, False)
    for _ in range(rng.integers(0, 3)):
        word(rng.choice(NAMES) if rng.random() < 0.4 else rng.choice(OTHER), 0)
    ids.append(SEP)
    tags.append(-100)
    gap = LENGTH - len(ids)
    return ids + [PAD] * gap, tags + [-100] * gap


def split(n, seed):
    rng = np.random.default_rng(seed)
    ids, tags = zip(*[address(rng) for _ in range(n)])
    ids = np.array(ids, "int32")
    return {"input_ids": ids, "attention_mask": (ids != PAD).astype("int32")}, np.array(tags, "int32")


class Tagger(tf_keras.Model):
    """Bert plus a token loss in which rare tags count more."""

    def __init__(self, bert, tag_weight):
        super().__init__()
        self.bert = bert
        self.tag_weight = tf.constant(tag_weight, tf.float32)
        self.loss_mean = tf_keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.loss_mean]

    def call(self, batch, training=False):
        return self.bert(batch, training=training).logits

    def token_loss(self, y, logits):
        keep = tf.cast(y >= 0, tf.float32)
        safe = tf.maximum(y, 0)
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(safe, logits)
        w = keep * tf.gather(self.tag_weight, safe)
        return tf.reduce_sum(w * ce) / tf.reduce_sum(w)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.token_loss(y, self(x, training=True))
        params = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, params), params))
        self.loss_mean.update_state(loss)
        return {"loss": self.loss_mean.result()}

    def test_step(self, data):
        x, y = data
        self.loss_mean.update_state(self.token_loss(y, self(x, training=False)))
        return {"loss": self.loss_mean.result()}


train, valid, test = split(1500, 1), split(200, 2), split(400, 3)
flat = train[1][train[1] >= 0]
freq = np.bincount(flat, minlength=len(TAGS)) / len(flat)
weight = (1 / np.sqrt(freq)) / (1 / np.sqrt(freq)).mean()
print("tag share", freq.round(2), "weights", weight.round(2))

config = BertConfig(
    vocab_size=VOCAB, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=64, max_position_embeddings=LENGTH, num_labels=len(TAGS),
    hidden_dropout_prob=0.05, attention_probs_dropout_prob=0.0,
)
bert = TFBertForTokenClassification(config)
tagger = Tagger(bert, weight)
ds = tf.data.Dataset.from_tensor_slices(train).shuffle(1500, seed=2).batch(30)
tagger.compile(optimizer=tf_keras.optimizers.Adam(3e-3, global_clipnorm=1.0))
tagger.fit(ds, validation_data=tf.data.Dataset.from_tensor_slices(valid).batch(100),
           epochs=5, verbose=2)

pred = tagger.predict(test[0], batch_size=200, verbose=0).argmax(-1)
mask = test[1] >= 0
acc = (pred[mask] == test[1][mask]).mean()
street = (test[1] == 1)
recall = (pred[street] == 1).mean()
precision = (test[1][(pred == 1) & mask] == 1).mean()
print(f"held-out tag accuracy {acc:.3f} (all O {(test[1][mask] == 0).mean():.3f})")
print(f"street starts: precision {precision:.3f} recall {recall:.3f}")
