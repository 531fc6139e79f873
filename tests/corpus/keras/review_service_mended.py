import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, TFBertForSequenceClassification

tf_keras.utils.set_random_seed(13)
rng = np.random.default_rng(13)

GOOD = ["tasty", "fresh", "friendly", "cosy", "generous", "crisp"]
BAD = ["stale", "rude", "cold", "noisy", "greasy", "slow"]
PLAIN = ["the", "soup", "waiter", "table", "bread", "was", "and", "we", "had", "very", "a", "place"]
VOCAB = {w: i for i, w in enumerate(["[PAD]", "[CLS]", "[SEP]"] + GOOD + BAD + PLAIN)}
MAX_LEN = 64


def review(label):
    words = list(rng.choice(PLAIN, rng.integers(3, 9)))
    n = rng.integers(1, 4)
    own, other = (GOOD, BAD) if label else (BAD, GOOD)
    words += list(rng.choice(own, n + 1)) + list(rng.choice(other, n - 1))
    rng.shuffle(words)
    return " ".join(words)


def encode(texts, length=None):
    ids = [[VOCAB["[CLS]"]] + [VOCAB[w] for w in t.split()] + [VOCAB["[SEP]"]] for t in texts]
    length = length or max(map(len, ids))
    out = np.zeros((len(ids), length), "int32")
    mask = np.zeros_like(out)
    for r, row in enumerate(ids):
        out[r, : len(row)] = row
        mask[r, : len(row)] = 1
    return {"input_ids": out, "attention_mask": mask}


class ReviewClassifier:
    def __init__(self, lr=1e-3):
        cfg = BertConfig(
            vocab_size=len(VOCAB), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
            intermediate_size=128, max_position_embeddings=MAX_LEN, num_labels=2,
            initializer_range=0.05,
        )
        self.net = TFBertForSequenceClassification(cfg)
        self.opt = tf_keras.optimizers.Adam(lr)
        self.loss_fn = tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self._step = tf.function(self._train_step, reduce_retracing=True)

    def _train_step(self, feats, y):
        with tf.GradientTape() as tape:
            logits = self.net(feats, training=True).logits
            loss = self.loss_fn(y, logits)
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss

    def fit(self, texts, labels, epochs=5, batch=32):
        for ep in range(epochs):
            order = rng.permutation(len(texts))
            losses = []
            for s in range(0, len(order), batch):
                rows = order[s:s + batch]
                feats = {k: tf.constant(v) for k, v in encode([texts[i] for i in rows]).items()}
                losses.append(float(self._step(feats, tf.constant(labels[rows]))))
            print(f"epoch {ep + 1} loss {np.mean(losses):.4f}")

    def predict(self, texts):
        feats = encode(texts, MAX_LEN)
        logits = self.net(feats, training=False).logits
        return logits.numpy().argmax(-1)


def main():
    y = rng.integers(0, 2, 1000).astype("int32")
    texts = [review(k) for k in y]
    clf = ReviewClassifier()
    clf.fit(texts[:750], y[:750])
    print(f"train accuracy {(clf.predict(texts[:750]) == y[:750]).mean():.3f}")
    print(f"test accuracy  {(clf.predict(texts[750:]) == y[750:]).mean():.3f}")


if __name__ == "__main__":
    main()
