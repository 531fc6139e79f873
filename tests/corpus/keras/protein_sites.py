import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import argparse
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, TFBertForSequenceClassification

AMINO = "ACDEFGHIKLMNPQRSTVWY"
PAD, CLS, SEP = 0, 1, 2
VOCAB = {a: i + 3 for i, a in enumerate(AMINO)}
FAMILIES = {"zinc": "CGHC", "kinase": "DFGK", "helix": "LEEL", "none": ""}


def random_protein(family, rng):
    length = rng.integers(20, 44) if rng.random() < 0.97 else rng.integers(64, 90)
    seq = list(rng.choice(list(AMINO), length))
    motif = FAMILIES[family]
    if motif:
        for at in rng.choice(length // 5 - 1, 3, replace=False) * 5:
            seq[at:at + len(motif)] = motif
    return "".join(seq)


def encode(seq):
    return [CLS] + [VOCAB[a] for a in seq] + [SEP]


class Proteins:
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        names = list(FAMILIES)
        self.y = rng.integers(0, len(names), n).astype("int32")
        self.rows = [encode(random_protein(names[k], rng)) for k in self.y]

    def batches(self, size, shuffle):
        def gen():
            for ids, k in zip(self.rows, self.y):
                yield {"input_ids": ids, "attention_mask": [1] * len(ids)}, k

        spec = ({"input_ids": tf.TensorSpec([None], tf.int32),
                 "attention_mask": tf.TensorSpec([None], tf.int32)}, tf.TensorSpec([], tf.int32))
        ds = tf.data.Dataset.from_generator(gen, output_signature=spec).cache()
        if shuffle:
            ds = ds.shuffle(len(self.rows), seed=1)
        return ds.padded_batch(size).prefetch(2)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--max-positions", type=int, default=64)
    ap.add_argument("--hidden", type=int, default=64)
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--batch", type=int, default=32)
    args = ap.parse_args()
    tf_keras.utils.set_random_seed(4)

    train, test = Proteins(1000, seed=1), Proteins(200, seed=2)
    config = BertConfig(vocab_size=len(AMINO) + 3, hidden_size=args.hidden, num_hidden_layers=2,
                        num_attention_heads=4, intermediate_size=2 * args.hidden,
                        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
                        max_position_embeddings=args.max_positions, num_labels=len(FAMILIES))
    model = TFBertForSequenceClassification(config)
    model.compile(optimizer=tf_keras.optimizers.Adam(1.5e-3),
                  loss=tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"])
    model.fit(train.batches(args.batch, True), validation_data=test.batches(64, False),
              epochs=args.epochs, verbose=2)
    loss, acc = model.evaluate(test.batches(64, False), verbose=0)
    print(f"majority accuracy {np.bincount(test.y).max() / len(test.y):.3f}")
    print(f"test loss {loss:.3f}  accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
