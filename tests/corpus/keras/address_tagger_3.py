import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from transformers import DistilBertConfig, TFDistilBertForTokenClassification

STREETS = "oak maple cedar river mill church station garden north harbour".split()
KINDS = "street road lane avenue square".split()
TOWNS = "oak river bristol leeds york derby luton truro station harbour".split()
NUMBERS = [str(i) for i in range(1, 40)]
NOISE = "please send to the parcel for care of near by".split()
TAGS = ["O", "NUM", "STREET", "TOWN"]
VOCAB = {w: i + 1 for i, w in enumerate(sorted(set(STREETS + KINDS + TOWNS + NUMBERS + NOISE + ["in"])))}
LEN = 16
g = np.random.default_rng(19)
tf.keras.utils.set_random_seed(19)


def line():
    out = [(w, 0) for w in g.choice(NOISE, g.integers(0, 4))]
    out += [(g.choice(NUMBERS), 1), (g.choice(STREETS), 2), (g.choice(KINDS), 2)]
    out += [(w, 0) for w in g.choice(NOISE, g.integers(0, 3))]
    if g.random() < 0.8:
        out += [("in", 0), (g.choice(TOWNS), 3)]
    return out


def build(n):
    ids, tags = np.zeros((n, LEN), "int32"), np.full((n, LEN), -100, "int32")
    for r in range(n):
        for c, (w, t) in enumerate(line()):
            ids[r, c], tags[r, c] = VOCAB[w], t
    return ids, tags


class Tagger(tf.keras.Model):
    """Embeddings get Adagrad at a high rate, everything else gets Adam."""

    def __init__(self, core):
        super().__init__()
        self.core = core
        self.seen = tf.keras.metrics.Mean(name="loss")
        self.acc = tf.keras.metrics.Mean(name="token_acc")

    def compile(self, slow, fast):
        super().compile()
        self.slow, self.fast = slow, fast

    @property
    def metrics(self):
        return [self.seen, self.acc]

    def call(self, ids, training=False):
        return self.core(input_ids=ids, attention_mask=tf.cast(ids > 0, tf.int32), training=training).logits

    def measure(self, ids, tags, training):
        logits = self(ids, training=training)
        keep = tf.cast(tags >= 0, tf.float32)
        raw = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.maximum(tags, 0), logits=logits)
        loss = tf.reduce_sum(raw * keep) / tf.reduce_sum(keep)
        right = tf.cast(tf.argmax(logits, -1, output_type=tf.int32) == tags, tf.float32)
        self.acc.update_state(right, sample_weight=keep)
        self.seen.update_state(loss)
        return loss

    def train_step(self, data):
        ids, tags = data
        with tf.GradientTape() as tape:
            loss = self.measure(ids, tags, True)
        every = self.core.trainable_variables
        grads = tape.gradient(loss, every)
        emb = [(gr, v) for gr, v in zip(grads, every) if "embeddings" in v.name]
        rest = [(gr, v) for gr, v in zip(grads, every) if "embeddings" not in v.name]
        self.fast.apply_gradients(emb)
        self.slow.apply_gradients(rest)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        self.measure(*data, False)
        return {m.name: m.result() for m in self.metrics}


cfg = DistilBertConfig(vocab_size=len(VOCAB) + 1, dim=48, n_layers=2, n_heads=4, hidden_dim=96,
                       max_position_embeddings=LEN, num_labels=len(TAGS), dropout=0.05)
model = Tagger(TFDistilBertForTokenClassification(cfg))
model.compile(slow=tf.keras.optimizers.Adam(1e-3), fast=tf.keras.optimizers.Adagrad(0.05))
model.fit(*build(1200), validation_data=build(400), epochs=8, batch_size=32, verbose=2)
