"""Token tagging of reagent, amount and solvent with a small DistilBERT from scratch (tf_keras)."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import DistilBertConfig, TFDistilBertForTokenClassification
from sklearn.metrics import classification_report, f1_score

tf_keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)
PREFIX = ["meth", "eth", "prop", "but", "pent", "hex"]
SUFFIX = ["anol", "anal", "amine", "ene", "yne", "ate"]
FILL = "the mixture was then stirred cooled heated slowly and left overnight under argon".split()
UNITS = ["g", "mg", "ml", "mmol"]
TAGS = ["O", "REAGENT", "AMOUNT", "SOLVENT"]
MAXLEN = 28
pieces = ["[PAD]", "[CLS]", "[SEP]"] + PREFIX + SUFFIX + FILL + UNITS + ["of", "in", "added", "to"] + [str(d) for d in range(10)]
tok = {p: i for i, p in enumerate(pieces)}


def chem():
    return [rng.choice(PREFIX), rng.choice(SUFFIX)]


def sentence():
    ids, tags = ["[CLS]"], [-100]

    def put(parts, tag):
        ids.extend(parts)
        tags.extend([tag] + [-100] * (len(parts) - 1))      # only the first piece of a word is scored

    for w in rng.choice(FILL, rng.integers(2, 6)):
        put([w], 0)
    for _ in range(rng.integers(1, 3)):
        put([str(d) for d in rng.integers(1, 10, rng.integers(1, 3))] + [rng.choice(UNITS)], 2)
        put(["of"], 0)
        put(chem(), 1)
        put(["in"] if rng.random() < 0.6 else ["added", "to"], 0)
        put(chem(), 3)
    for w in rng.choice(FILL, rng.integers(0, 3)):
        put([w], 0)
    ids, tags = ids[:MAXLEN - 1] + ["[SEP]"], tags[:MAXLEN - 1] + [-100]
    pad = MAXLEN - len(ids)
    return [tok[t] for t in ids] + [0] * pad, tags + [-100] * pad, [1] * len(ids) + [0] * pad


def build(n):
    rows = [sentence() for _ in range(n)]
    ids, tags, mask = (np.array(c, dtype="int32") for c in zip(*rows))
    return {"input_ids": ids, "attention_mask": mask, "labels": tags}


train, test = build(1200), build(300)
cfg = DistilBertConfig(vocab_size=len(pieces), dim=48, hidden_dim=96, n_layers=2, n_heads=4,
                       max_position_embeddings=MAXLEN, num_labels=4, dropout=0.05, attention_dropout=0.0)
model = TFDistilBertForTokenClassification(cfg)
sched = tf_keras.optimizers.schedules.PolynomialDecay(2e-3, decay_steps=38 * 7, end_learning_rate=0.0)
model.compile(optimizer=tf_keras.optimizers.Adam(sched))
ds = tf.data.Dataset.from_tensor_slices(train).shuffle(1200, seed=5).batch(32)
for line in zip(*[model.fit(ds, epochs=7, verbose=0).history["loss"]]):
    print(f"loss {line[0]:.4f}")

logits = model.predict({k: test[k] for k in ("input_ids", "attention_mask")}, batch_size=100, verbose=0).logits
keep = test["labels"] >= 0
true, pred = test["labels"][keep], logits.argmax(-1)[keep]
print(classification_report(true, pred, target_names=TAGS, digits=3))
print(f"macro F1 {f1_score(true, pred, average='macro'):.3f}, all-O {f1_score(true, np.zeros_like(true), average='macro'):.3f}")
