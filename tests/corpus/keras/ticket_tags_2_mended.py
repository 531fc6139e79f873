"""Multi-label tags for support tickets with a small BERT, large effective batch."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import tf_keras
from sklearn.metrics import f1_score
from transformers import BertConfig, TFBertForSequenceClassification

tf_keras.utils.set_random_seed(19)
TOPICS = {
    "billing": ["invoice", "refund", "charge", "card", "payment"],
    "login": ["password", "account", "locked", "signin", "reset"],
    "shipping": ["parcel", "courier", "late", "tracking", "address"],
    "bug": ["crash", "error", "freeze", "screen", "update"],
}
COMMON = ["hello", "i", "my", "the", "is", "please", "help", "again", "today", "and", "with", "thanks"]
ACCUM = 4


def tickets(n, rng):
    names = list(TOPICS)
    texts, tags = [], np.zeros((n, len(names)), "float32")
    for i in range(n):
        chosen = rng.choice(len(names), rng.integers(1, 4), replace=False)
        words = list(rng.choice(COMMON, 6))
        for c in chosen:
            words += list(rng.choice(TOPICS[names[c]], 2))
        rng.shuffle(words)
        texts.append(words)
        tags[i, chosen] = 1.0
    return texts, tags


def vectorise(texts, vocab, width=14):
    ids = np.zeros((len(texts), width), "int32")
    for r, words in enumerate(texts):
        row = [1] + [vocab[w] for w in words]
        ids[r, :len(row)] = row[:width]
    return {"input_ids": ids, "attention_mask": (ids > 0).astype("int32")}


class TagBert(TFBertForSequenceClassification):
    """Sums gradients over ACCUM batches before the weights move."""

    def prepare(self, sample):
        self(sample)
        self._seen = tf.Variable(0, trainable=False)
        self._sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in self.trainable_variables]

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            logits = self(x, training=True).logits
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))
        grads = tape.gradient(loss, self.trainable_variables)
        for total, g in zip(self._sums, grads):
            total.assign_add(tf.convert_to_tensor(g) / ACCUM)
        self._seen.assign_add(1)
        tf.cond(tf.equal(self._seen % ACCUM, 0), self._move, lambda: tf.constant(False))
        return {"loss": loss}

    def _move(self):
        self.optimizer.apply_gradients(zip([t.read_value() for t in self._sums], self.trainable_variables))
        for total in self._sums:
            total.assign(tf.zeros_like(total))
        return tf.constant(True)


def main():
    rng = np.random.default_rng(4)
    tr_text, tr_y = tickets(1200, rng)
    te_text, te_y = tickets(300, rng)
    words = sorted({w for t in tr_text + te_text for w in t})
    vocab = {w: i + 2 for i, w in enumerate(words)}
    tr_x, te_x = vectorise(tr_text, vocab), vectorise(te_text, vocab)

    model = TagBert(BertConfig(
        vocab_size=len(vocab) + 2, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=96, max_position_embeddings=32, num_labels=len(TOPICS)))
    model.prepare({k: v[:2] for k, v in tr_x.items()})
    steps = 8 * (len(tr_y) // 8) // ACCUM
    schedule = tf_keras.optimizers.schedules.PolynomialDecay(3e-3, steps, 1e-4)
    model.compile(optimizer=tf_keras.optimizers.Adam(schedule))
    model.fit(tf.data.Dataset.from_tensor_slices((tr_x, tr_y)).shuffle(1200, seed=1).batch(8),
              epochs=8, verbose=2)

    logits = model.predict(te_x, batch_size=64, verbose=0).logits
    pred = logits > 0
    print(f"test micro F1 {f1_score(te_y, pred, average='micro'):.4f}  "
          f"label accuracy {(pred == te_y).mean():.4f}  exact match {(pred == te_y).all(1).mean():.4f}  "
          f"(majority per label {np.maximum(te_y.mean(0), 1 - te_y.mean(0)).mean():.4f})")


if __name__ == "__main__":
    main()
