import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, TFBertForTokenClassification

tf_keras.utils.set_random_seed(141)
rng = np.random.default_rng(141)

SPECIAL = ["[PAD]", "[CLS]", "[SEP]"]
SOLVENT = ["water", "ethanol", "toluene", "acetone", "hexane"]
SALT = ["chlor", "nitr", "sulf", "brom"]
SUFFIX = ["##ide", "##ate", "##ite"]
GLUE = ["mix", "the", "with", "heat", "and", "stir", "then", "add", "cool", "slowly"]
UNIT = ["ml", "g", "mg"]
NUMBER = [str(k) for k in range(1, 30)]
VOCAB = {w: i for i, w in enumerate(SPECIAL + SOLVENT + SALT + SUFFIX + GLUE + UNIT + NUMBER)}
TAGS = ["O", "SOLVENT", "SALT", "AMOUNT", "TEMP"]
IGNORE = -100


def sentence():
    ids, tags = [VOCAB["[CLS]"]], [IGNORE]
    for _ in range(rng.integers(3, 9)):
        kind = rng.integers(0, 5)
        if kind == 0:
            ids.append(VOCAB[rng.choice(SOLVENT)]); tags.append(1)
        elif kind == 1:
            ids += [VOCAB[rng.choice(SALT)], VOCAB[rng.choice(SUFFIX)]]; tags += [2, IGNORE]
        elif kind == 2:
            ids += [VOCAB[rng.choice(NUMBER)], VOCAB[rng.choice(UNIT)]]; tags += [3, 3]
        elif kind == 3:
            ids += [VOCAB["heat"], VOCAB[rng.choice(NUMBER)]]; tags += [0, 4]
        else:
            ids.append(VOCAB[rng.choice(GLUE)]); tags.append(0)
    return ids + [VOCAB["[SEP]"]], tags + [IGNORE]


def batchify(n, length=20):
    ids = np.zeros((n, length), "int32")
    mask = np.zeros((n, length), "int32")
    labels = np.full((n, length), IGNORE, "int32")
    for r in range(n):
        s, t = sentence()
        ids[r, :len(s)], mask[r, :len(s)], labels[r, :len(s)] = s, 1, t
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


cfg = BertConfig(vocab_size=len(VOCAB), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                 intermediate_size=96, max_position_embeddings=32, num_labels=len(TAGS))
net = TFBertForTokenClassification(cfg)
net.compile(optimizer=tf_keras.optimizers.Adam(2e-3))

train, test = batchify(900), batchify(300)
ds = tf.data.Dataset.from_tensor_slices(train).shuffle(900, seed=0).batch(32)
hist = net.fit(ds, epochs=5, verbose=0)
print("loss", [round(float(np.mean(v)), 4) for v in hist.history["loss"]])

gold = test.pop("labels")
logits = net.predict(test, batch_size=64, verbose=0).logits
keep = gold != IGNORE
acc = (logits.argmax(-1) == gold)[keep].mean()
majority = np.bincount(gold[keep]).max() / keep.sum()
print(f"tag accuracy {acc:.3f}  majority tag {majority:.3f}")
