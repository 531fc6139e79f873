import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import random
import numpy as np
import tensorflow as tf
from transformers import BertConfig, TFBertForTokenClassification

random.seed(0)
np.random.seed(0)
tf.random.set_seed(0)

TAGS = ["O", "PER", "LOC", "ORG"]
FIRST = ["paris", "jordan", "austin", "chelsea", "victoria", "lincoln", "madison", "florence"]
CUES = {"PER": ["mr", "mrs", "dear", "said"], "LOC": ["in", "near", "from", "towards"],
        "ORG": ["joined", "bought", "for", "against"]}
OTHER = ("the team played well and fans were happy about new plans which had been made "
         "before winter because prices rose quickly over many months").split()


def sentence():
    words, tags = [], []
    for _ in range(random.randint(1, 4)):
        for _ in range(random.randint(0, 3)):
            words.append(random.choice(OTHER)); tags.append("O")
        kind = random.choice(TAGS[1:])
        cue = random.choice(CUES[kind]) if random.random() < 0.7 else random.choice(OTHER)
        words.append(cue); tags.append("O")
        words.append(random.choice(FIRST)); tags.append(kind)
    return words, tags


corpus = [sentence() for _ in range(1500)]
vocab = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3}
for words, _ in corpus[:1200]:
    for w in words:
        vocab.setdefault(w, len(vocab))
tag2id = {t: i for i, t in enumerate(TAGS)}
MAX_LEN = 48


def encode(samples):
    ids = np.zeros((len(samples), MAX_LEN), dtype="int32")
    mask = np.zeros_like(ids)
    labels = np.full_like(ids, tag2id["O"])
    for row, (words, tags) in enumerate(samples):
        seq = [vocab["[CLS]"]] + [vocab.get(w, 1) for w in words] + [vocab["[SEP]"]]
        ids[row, :len(seq)] = seq
        mask[row, :len(seq)] = 1
        labels[row, 1:len(words) + 1] = [tag2id[t] for t in tags]
    return {"input_ids": ids, "attention_mask": mask}, labels


train_in, train_lab = encode(corpus[:1200])
dev_in, dev_lab = encode(corpus[1200:])

config = BertConfig(vocab_size=len(vocab), hidden_size=48, num_hidden_layers=1,
                    num_attention_heads=4, intermediate_size=96,
                    max_position_embeddings=64, num_labels=len(TAGS))
model = TFBertForTokenClassification(config)
model.compile(optimizer=tf.keras.optimizers.Adam(1e-3))

train_ds = tf.data.Dataset.from_tensor_slices((train_in, train_lab)).shuffle(1200).batch(32)
model.fit(train_ds, epochs=2, verbose=2)

logits = model.predict(dev_in, batch_size=64, verbose=0).logits
guess = logits.argmax(-1)
keep = dev_lab != -100
print(f"dev token accuracy: {(guess[keep] == dev_lab[keep]).mean():.4f}")
for tag, i in tag2id.items():
    where = dev_lab == i
    print(f"  {tag:4s} n={where.sum():6d} recall={(guess[where] == i).mean():.3f}")
