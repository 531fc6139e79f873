import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, TFBertForTokenClassification

ALPHABET = "ACDEFGHIKLMNPQRSTVWY"
HYDROPHOBIC, POLAR = "AILMFVW", "DEKRNQSTG"
PAD, LENGTH = 0, 48


def protein(rng):
    seq, state = [], []
    s = rng.integers(2)
    while len(seq) < LENGTH:
        run = rng.integers(6, 14)
        home = HYDROPHOBIC if s else POLAR
        for _ in range(run):
            seq.append(rng.choice(list(home)) if rng.random() < 0.65 else rng.choice(list(ALPHABET)))
            state.append(s)
        s = 1 - s
    n = rng.integers(20, LENGTH)
    return seq[:n], state[:n]


def build_arrays(n, seed, known):
    rng = np.random.default_rng(seed)
    ids = np.full((n, LENGTH), PAD, "int32")
    tags = np.full((n, LENGTH), -100, "int32")
    for i in range(n):
        seq, state = protein(rng)
        ids[i, :len(seq)] = [ALPHABET.index(c) + 1 for c in seq]
        shown = rng.random(len(seq)) < known
        tags[i, :len(seq)] = np.where(shown, state, -100)
    return {"input_ids": ids, "attention_mask": (ids != PAD).astype("int32")}, tags


def main():
    tf_keras.utils.set_random_seed(33)
    x, y = build_arrays(1200, 0, known=0.25)
    x_test, y_test = build_arrays(200, 1, known=1.0)
    print(f"positions with a label in training: {np.mean(y != -100):.3f}")
    config = BertConfig(vocab_size=len(ALPHABET) + 1, hidden_size=48, num_hidden_layers=2,
                        num_attention_heads=4, intermediate_size=96, max_position_embeddings=LENGTH,
                        num_labels=2, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    model = TFBertForTokenClassification(config)
    model.compile(optimizer=tf_keras.optimizers.Adam(3e-3, clipnorm=1.0))
    train = tf.data.Dataset.from_tensor_slices({**x, "labels": y}).shuffle(1200).batch(32)
    model.fit(train, epochs=8, verbose=2)
    logits = model.predict(x_test, batch_size=50, verbose=0).logits
    keep = y_test != -100
    acc = np.mean(logits.argmax(-1)[keep] == y_test[keep])
    single = np.isin(x_test["input_ids"], [ALPHABET.index(c) + 1 for c in HYDROPHOBIC])
    print(f"test accuracy per residue {acc:.3f}  residue-type rule {np.mean(single[keep] == y_test[keep]):.3f}  "
          f"majority {max(y_test[keep].mean(), 1 - y_test[keep].mean()):.3f}")


if __name__ == "__main__":
    main()
