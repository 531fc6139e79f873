"""Labels some positions of fixed-length sequences with a small ELECTRA."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import ElectraConfig, TFElectraForTokenClassification

tf_keras.utils.set_random_seed(37)

LENGTH = 30
BASES = "ACGU"
STARTS = {"AUG": 1, "UAA": 2, "UAG": 2, "UGA": 2}


def sequences(n, seed):
    rng = np.random.default_rng(seed)
    ids = rng.integers(0, 4, (n, LENGTH)).astype("int32")
    motifs = list(STARTS)
    for row in ids:
        for pos in rng.choice(np.arange(0, LENGTH - 3, 3), 4, replace=False):
            row[pos: pos + 3] = [BASES.index(b) for b in motifs[rng.integers(4)]]
    tags = np.full((n, LENGTH), -100, "int32")
    for i, row in enumerate(ids):
        text = "".join(BASES[t] for t in row)
        for pos in range(0, LENGTH, 3):
            tags[i, pos] = STARTS.get(text[pos: pos + 3], 0)
    return ids, tags


def batches(ids, tags, size, training):
    ds = tf.data.Dataset.from_tensor_slices({"input_ids": ids, "labels": tags})
    if training:
        ds = ds.shuffle(len(ids), seed=1)
    return ds.batch(size)


config = ElectraConfig(
    vocab_size=4,
    embedding_size=32,
    hidden_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=128,
    max_position_embeddings=LENGTH,
    num_labels=3,
    pad_token_id=None,
)

x_tr, t_tr = sequences(1200, 1)
x_te, t_te = sequences(300, 2)

model = TFElectraForTokenClassification(config)
model.compile(optimizer=tf_keras.optimizers.Adam(2e-3))
model.fit(batches(x_tr, t_tr, 32, True), epochs=10, verbose=2)

logits = model.predict(batches(x_te, t_te, 100, False), verbose=0).logits
pred = logits.argmax(-1)
scored = t_te != -100
truth, guess = t_te[scored], pred[scored]
print("tagged share", round(float(scored.mean()), 3))
print("majority share", round(float(np.bincount(truth).max() / len(truth)), 3))
print("accuracy on tagged positions", round(float((truth == guess).mean()), 3))
for k, name in enumerate(["none", "start", "stop"]):
    print(f"recall {name}: {(guess[truth == k] == k).mean():.3f}")
