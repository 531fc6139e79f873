import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from transformers import DistilBertConfig, TFDistilBertForTokenClassification

TAGS = ["O", "NAME", "STREET", "CITY"]
LEX = {
    "NAME": "anna boris chen dora emil farid greta hugo".split(),
    "STREET": "oak mill high station river garden north bridge".split(),
    "CITY": "bern lyon turin graz delft ghent porto york".split(),
    "O": "send the parcel to please for at in near care of deliver by monday".split(),
}
AMBIGUOUS = "may park heath hall chester lane".split()
WORDS = sorted({w for ws in LEX.values() for w in ws} | set(AMBIGUOUS))
VOCAB = {"[PAD]": 0, "[CLS]": 1, "[SEP]": 2, **{w: i + 3 for i, w in enumerate(WORDS)}}
MAX_LEN = 64


def sentence(rng):
    words, tags = [], []

    def add(tag, n=1):
        for _ in range(n):
            hard = tag != "O" and rng.random() < 0.5
            words.append(str(rng.choice(AMBIGUOUS if hard else LEX[tag])))
            tags.append(TAGS.index(tag))

    add("O", rng.integers(1, 4))
    for tag in rng.permutation(["NAME", "STREET", "CITY"]):
        add(tag, rng.integers(1, 3))
    return words, tags


def collate(examples):
    ids = np.zeros((len(examples), MAX_LEN), "int32")
    mask = np.zeros((len(examples), MAX_LEN), "int32")
    labels = np.full((len(examples), MAX_LEN), 0, "int32")
    for row, (words, tags) in enumerate(examples):
        n = len(words)
        ids[row, : n + 2] = [VOCAB["[CLS]"]] + [VOCAB[w] for w in words] + [VOCAB["[SEP]"]]
        mask[row, : n + 2] = 1
        labels[row, 1 : n + 1] = tags
    return {"input_ids": ids, "attention_mask": mask}, labels


def tag_loss(y_true, logits):
    y_true = tf.cast(y_true, tf.int32)
    keep = tf.cast(y_true >= 0, tf.float32)
    ce = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.maximum(y_true, 0), logits)
    return tf.reduce_sum(ce * keep) / tf.reduce_sum(keep)


def tag_accuracy(y_true, logits):
    y_true = tf.cast(y_true, tf.int32)
    keep = tf.cast(y_true >= 0, tf.float32)
    hit = tf.cast(tf.equal(tf.argmax(logits, -1, output_type=tf.int32), y_true), tf.float32)
    return tf.reduce_sum(hit * keep) / tf.reduce_sum(keep)


def word_accuracy(model, examples):
    feats, _ = collate(examples)
    pred = model.predict(feats, verbose=0).logits.argmax(-1)
    hits = [p == t for row, (_, tags) in zip(pred, examples) for p, t in zip(row[1:], tags)]
    return float(np.mean(hits))


def main():
    tf.keras.utils.set_random_seed(2)
    rng = np.random.default_rng(2)
    train = [sentence(rng) for _ in range(600)]
    test = [sentence(rng) for _ in range(200)]
    model = TFDistilBertForTokenClassification(DistilBertConfig(
        vocab_size=len(VOCAB), dim=48, n_layers=2, n_heads=4, hidden_dim=96,
        max_position_embeddings=MAX_LEN, num_labels=len(TAGS)))
    model.compile(optimizer=tf.keras.optimizers.Adam(1e-3), loss=tag_loss, metrics=[tag_accuracy])
    x, y = collate(train)
    model.fit(x, y, validation_data=collate(test), batch_size=16, epochs=4, verbose=2)
    logged = model.evaluate(*collate(test), verbose=0)
    print(f"reported test loss {logged[0]:.4f} tag accuracy {logged[1]:.4f}")
    print(f"accuracy over real words {word_accuracy(model, test):.4f}")


if __name__ == "__main__":
    main()
