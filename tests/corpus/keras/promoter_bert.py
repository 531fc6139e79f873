import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

from dataclasses import asdict, dataclass

import numpy as np
import tensorflow as tf
import tf_keras
from sklearn.metrics import matthews_corrcoef
from transformers import BertConfig, TFBertForSequenceClassification

BASES = "ACGT"
VOCAB = {tok: i for i, tok in enumerate(["[PAD]", "[CLS]", "[SEP]"] + [a + b for a in BASES for b in BASES])}


@dataclass
class Hyper:
    vocab_size: int = len(VOCAB)
    hidden_size: int = 64
    num_hidden_layers: int = 2
    num_attention_heads: int = 4
    intermediate_size: int = 128
    max_position_embeddings: int = 64
    hidden_dropout_prob: float = 0.9
    attention_probs_dropout_prob: float = 0.9
    num_labels: int = 2


def strand(rng, positive):
    length = int(rng.integers(16, 29)) * 2
    seq = list(rng.choice(list(BASES), length))
    if positive:
        at = int(rng.integers(0, (length - 8) // 2)) * 2
        seq[at:at + 8] = list("TATAAAGC")
    else:
        at = int(rng.integers(0, (length - 8) // 2)) * 2
        seq[at:at + 8] = list("GCGCGTTA")
    return "".join(seq)


def tokenize(seq, max_len=32):
    ids = [VOCAB["[CLS]"]] + [VOCAB[seq[i:i + 2]] for i in range(0, len(seq), 2)] + [VOCAB["[SEP]"]]
    ids = ids[:max_len]
    mask = [1] * len(ids) + [0] * (max_len - len(ids))
    return ids + [0] * (max_len - len(ids)), mask


def build_split(n, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    coded = [tokenize(strand(rng, bool(y))) for y in labels]
    features = {
        "input_ids": np.array([c[0] for c in coded], dtype="int32"),
        "attention_mask": np.array([c[1] for c in coded], dtype="int32"),
    }
    return features, labels.astype("int32")


def pipeline(features, labels, batch, seed=None):
    ds = tf.data.Dataset.from_tensor_slices((features, labels))
    if seed is not None:
        ds = ds.shuffle(len(labels), seed=seed)
    return ds.batch(batch).prefetch(1)


def main():
    tf_keras.utils.set_random_seed(14)
    train, y_train = build_split(1600, 1)
    test, y_test = build_split(400, 2)
    model = TFBertForSequenceClassification(BertConfig(**asdict(Hyper())))
    model.compile(
        optimizer=tf_keras.optimizers.Adam(tf_keras.optimizers.schedules.CosineDecay(1e-3, 300), clipnorm=1.0),
        loss=tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(pipeline(train, y_train, 32, seed=3), validation_data=pipeline(test, y_test, 64), epochs=6, verbose=2)

    logits = model.predict(pipeline(test, y_test, 64), verbose=0).logits
    pred = logits.argmax(-1)
    print(f"test accuracy {np.mean(pred == y_test):.3f}  majority {max(y_test.mean(), 1 - y_test.mean()):.3f}")
    print(f"matthews {matthews_corrcoef(y_test, pred):.3f}")


if __name__ == "__main__":
    main()
