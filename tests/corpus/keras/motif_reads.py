import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, TFAutoModelForSequenceClassification

BASES = "ACGT"
MOTIFS = {0: "GATTA", 1: "CCGGT", 2: "TACAG"}
READ = 32


def sequence_reads(per_class, seed):
    rng = np.random.default_rng(seed)
    reads, labels = [], []
    for label, motif in MOTIFS.items():
        for _ in range(per_class):
            read = rng.choice(list(BASES), size=READ)
            start = rng.integers(0, READ - len(motif))
            read[start : start + len(motif)] = list(motif)
            reads.append("".join(read))
            labels.append(label)
    return reads, np.array(labels, "int64")


def kmer_ids(reads, k=3):
    codes = np.array([[BASES.index(c) for c in read] for read in reads])
    ids = sum(codes[:, i : READ - k + 1 + i] * 4 ** (k - 1 - i) for i in range(k))
    return ids.astype("int32")


def pipeline(per_class, seed, batch_size, training):
    reads, labels = sequence_reads(per_class, seed)
    ds = tf.data.Dataset.from_tensor_slices(({"input_ids": kmer_ids(reads)}, labels))
    if training:
        ds = ds.shuffle(len(labels), seed=seed)
    return ds.batch(batch_size, drop_remainder=training)


def main():
    tf_keras.utils.set_random_seed(12)
    config = BertConfig(
        vocab_size=64,
        hidden_size=48,
        num_hidden_layers=1,
        num_attention_heads=4,
        intermediate_size=96,
        max_position_embeddings=READ - 2,
        type_vocab_size=1,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.1,
        num_labels=len(MOTIFS),
        pad_token_id=None,
    )
    model = TFAutoModelForSequenceClassification.from_config(config)
    model.compile(optimizer=tf_keras.optimizers.Adam(1e-3, clipnorm=1.0), metrics=["accuracy"])
    model.fit(
        pipeline(1000, 1, 50, True),
        validation_data=pipeline(100, 2, 100, False),
        epochs=6,
        verbose=2,
    )
    logits = model.predict(pipeline(200, 3, 100, False), verbose=0).logits
    labels = sequence_reads(200, 3)[1]
    print("test accuracy", round(float((logits.argmax(-1) == labels).mean()), 3), "chance 0.333")


if __name__ == "__main__":
    main()
