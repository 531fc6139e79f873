"""Slot tagging for a warehouse chat bot: TF BERT token classifier, own WordPiece vocab."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, BertTokenizerFast, TFBertForTokenClassification

TAGS = ["O", "ITEM", "QTY", "PLACE", "DATE"]
TAG_ID = {t: i for i, t in enumerate(TAGS)}
MAX_LEN = 32
SYL = ["ba", "ko", "mi", "ru", "te", "lo", "sa", "ni", "vu", "pe"]
SUFFIX = {"ITEM": ["ium", "ex"], "PLACE": ["ville", "ton"], "DATE": ["day", "ber"]}
FILLER = ["please", "send", "ship", "us", "urgently", "the", "again", "we", "need", "thanks",
          "to", "of", "on", "by", "and"]


class Chat:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def name(self, tag):
        n = self.rng.integers(1, 4)
        return "".join(self.rng.choice(SYL, n)) + str(self.rng.choice(SUFFIX[tag]))

    def fill(self, lo, hi):
        return [(str(w), "O") for w in self.rng.choice(FILLER, self.rng.integers(lo, hi))]

    def sentence(self):
        slots = [("QTY", str(self.rng.integers(1, 999))), ("ITEM", self.name("ITEM")),
                 ("PLACE", self.name("PLACE")), ("DATE", self.name("DATE"))]
        self.rng.shuffle(slots)
        out = self.fill(0, 3)
        for tag, word in slots[: self.rng.integers(2, 5)]:
            out += [(word, tag)] + self.fill(0, 3)
        words, tags = zip(*out)
        return list(words), [TAG_ID[t] for t in tags]


def make_tokenizer():
    os.makedirs("out", exist_ok=True)
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + FILLER + SYL
    pieces += ["##" + s for s in SYL + sum(SUFFIX.values(), [])]
    pieces += [str(d) for d in range(10)] + ["##%d" % d for d in range(10)]
    with open("out/vocab.txt", "w") as f:
        f.write("\n".join(pieces))
    return BertTokenizerFast(vocab_file="out/vocab.txt")


def tokenize_and_align(tokenizer, sentences, word_tags):
    enc = tokenizer(sentences, is_split_into_words=True, padding="max_length",
                    truncation=True, max_length=MAX_LEN, return_tensors="np")
    labels = np.full((len(sentences), MAX_LEN), -100, dtype=np.int32)
    for i, tags in enumerate(word_tags):
        ids = [None if w is None else tags[w] for w in enc.word_ids(i)]
        for j, tag in enumerate(ids[:MAX_LEN]):
            if tag is not None:
                labels[i, j] = tag
    return dict(enc), labels


def word_predictions(model, tokenizer, sentences):
    enc = tokenizer(sentences, is_split_into_words=True, padding="max_length",
                    truncation=True, max_length=MAX_LEN, return_tensors="np")
    pred = model.predict(dict(enc), batch_size=64, verbose=0).logits.argmax(-1)
    result = []
    for i in range(len(sentences)):
        first = {}
        for j, w in enumerate(enc.word_ids(i)):
            if w is not None:
                first.setdefault(w, pred[i, j])
        result.append([first[w] for w in sorted(first)])
    return result


def slot_f1(gold, pred):
    tp = fp = fn = 0
    for g, p in zip(gold, pred):
        for a, b in zip(g, p):
            tp += a == b and a != 0
            fp += b != 0 and a != b
            fn += a != 0 and a != b
    return 2 * tp / max(2 * tp + fp + fn, 1)


def main():
    tf_keras.utils.set_random_seed(8)
    chat = Chat(1)
    train = [chat.sentence() for _ in range(1500)]
    chat = Chat(2)
    test = [chat.sentence() for _ in range(300)]
    tok = make_tokenizer()
    enc, labels = tokenize_and_align(tok, [s for s, _ in train], [t for _, t in train])

    model = TFBertForTokenClassification(BertConfig(
        vocab_size=len(tok), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=128, max_position_embeddings=MAX_LEN, num_labels=len(TAGS)))
    model.compile(optimizer=tf_keras.optimizers.Adam(1e-3))
    data = tf.data.Dataset.from_tensor_slices(dict(enc, labels=labels))
    model.fit(data.shuffle(1500).batch(32), epochs=7, verbose=2)

    gold = [t for _, t in test]
    pred = word_predictions(model, tok, [s for s, _ in test])
    item_everywhere = slot_f1(gold, [[1] * len(g) for g in gold])
    print(f"slot F1, ITEM for every word {item_everywhere:.3f}")
    print(f"test slot F1 {slot_f1(gold, pred):.3f}")


if __name__ == "__main__":
    main()
