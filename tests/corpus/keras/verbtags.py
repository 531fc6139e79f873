import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import random
import numpy as np
import tf_keras as keras
from transformers import BertConfig, TFBertForTokenClassification

keras.utils.set_random_seed(6)
rng = random.Random(6)

words = {
    "DET": ["the", "a", "every", "some"],
    "NOUN": ["cook", "boat", "watch", "garden", "plant", "letter", "walk", "paint"],
    "VERB": ["sees", "cook", "watch", "finds", "plant", "walk", "paint", "sends"],
    "ADJ": ["old", "green", "quiet", "broken"],
    "ADV": ["slowly", "often", "never"],
}
tags = list(words)
vocab = ["[PAD]", "[CLS]", "[SEP]"] + sorted({w for group in words.values() for w in group})
ids = {w: i for i, w in enumerate(vocab)}
patterns = ["DET NOUN VERB DET NOUN", "DET ADJ NOUN ADV VERB", "DET NOUN VERB ADV", "DET ADJ NOUN VERB DET ADJ NOUN", "DET NOUN ADV VERB DET NOUN"]

MAX = 10


def make(n):
    input_ids = np.zeros((n, MAX), dtype="int32")
    mask = np.zeros((n, MAX), dtype="int32")
    labels = np.full((n, MAX), -100, dtype="int32")
    for i in range(n):
        seq = rng.choice(patterns).split()
        toks = ["[CLS]"] + [rng.choice(words[t]) for t in seq] + ["[SEP]"]
        input_ids[i, :len(toks)] = [ids[t] for t in toks]
        mask[i, :len(toks)] = 1
        labels[i, 1:len(seq) + 1] = [tags.index(t) for t in seq]
    return {"input_ids": input_ids, "attention_mask": mask, "labels": labels}


train, test = make(1500), make(300)

config = BertConfig(vocab_size=len(vocab), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=96, max_position_embeddings=MAX, num_labels=len(tags))
model = TFBertForTokenClassification(config)
model.compile(optimizer=keras.optimizers.Adam(1e-3))   # the model brings its own loss
model.fit(train, batch_size=32, epochs=4, verbose=2)

gold = test.pop("labels")
guess = model.predict(test, batch_size=64, verbose=0).logits.argmax(-1)
keep = gold != -100
print("tag accuracy", round(float((guess[keep] == gold[keep]).mean()), 3))
