"""Classifies device logs with a small BERT; event codes become tokens of their own."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
import tf_keras
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import BertConfig, PreTrainedTokenizerFast, TFBertForSequenceClassification

tf_keras.utils.set_random_seed(17)

CAUSES = ["power", "thermal", "link"]
CLUES = [
    ["voltage", "brownout", "supply", "ups"],
    ["fan", "overheat", "throttle", "celsius"],
    ["carrier", "retry", "timeout", "handshake"],
]
NOISE = "unit reported state change after poll ok at node rack slot by monitor service".split()
CODES = [f"<E{n}>" for n in range(40)]


def make_logs(n, seed):
    rng = np.random.default_rng(seed)
    lines, labels = [], []
    for _ in range(n):
        k = int(rng.integers(3))
        words = list(rng.choice(NOISE, rng.integers(8, 16)))
        words[rng.integers(len(words))] = str(rng.choice(CLUES[k]))
        if rng.random() < 0.3:
            code = rng.choice(CODES[k::3])
            words.insert(int(rng.integers(len(words))), str(code))
        lines.append(" ".join(words))
        labels.append(k)
    return lines, np.array(labels, "int32")


def train_tokenizer(lines):
    raw = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    plain = [" ".join(w for w in l.split() if not w.startswith("<")) for l in lines]
    raw.train_from_iterator(
        plain, trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[CLS]"])
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]"
    )


def make_config(vocab_size):
    return BertConfig(
        vocab_size=vocab_size,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=32,
        num_labels=len(CAUSES),
    )


def as_dataset(tok, lines, labels, batch, shuffle=False):
    enc = tok(["[CLS] " + l for l in lines], padding="max_length", max_length=24,
              truncation=True, return_tensors="np")
    feats = {k: enc[k] for k in ("input_ids", "attention_mask")}
    ds = tf.data.Dataset.from_tensor_slices((feats, labels))
    return (ds.shuffle(4000, seed=2) if shuffle else ds).batch(batch)


def main():
    lines, labels = make_logs(1500, seed=17)
    cut = 1200
    tok = train_tokenizer(lines[:cut])
    base_vocab = tok.vocab_size
    tok.add_tokens(CODES)

    train = as_dataset(tok, lines[:cut], labels[:cut], 32, shuffle=True)
    held = as_dataset(tok, lines[cut:], labels[cut:], 100)

    model = TFBertForSequenceClassification(make_config(len(tok)))
    model.compile(
        optimizer=tf_keras.optimizers.Adam(1e-3),
        loss=tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(train, validation_data=held, epochs=5, verbose=2)
    loss, acc = model.evaluate(held, verbose=0)
    print(f"held-out loss {loss:.3f} accuracy {acc:.3f} (chance 0.333)")


if __name__ == "__main__":
    main()
