import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification

SEED = 6
tf.keras.utils.set_random_seed(SEED)

CALM = "thanks appreciate kindly whenever curious wondering glad".split()
UPSET = "again unacceptable frustrated still waiting angry useless".split()
URGENT = "immediately down production blocked asap critical now".split()
PLAIN = ("the system report page login screen after update when i open a file it shows "
         "my team and we see this with new version on server").split()
WORDS = ["[PAD]", "[CLS]", "[SEP]"] + list(dict.fromkeys(PLAIN + CALM + UPSET + URGENT))
LOOKUP = {w: i for i, w in enumerate(WORDS)}


class ToyTokenizer:
    def __init__(self, max_length=24):
        self.max_length = max_length

    def __call__(self, texts):
        ids = np.zeros((len(texts), self.max_length), "int32")
        for r, text in enumerate(texts):
            row = [1] + [LOOKUP[w] for w in text.split()][: self.max_length - 2] + [2]
            ids[r, : len(row)] = row
        return {"input_ids": ids, "attention_mask": (ids != 0).astype("int32")}


def make_tickets(n, rng):
    pools, texts = [CALM, UPSET, URGENT], []
    mood = rng.integers(0, 3, n)
    for m in mood:
        words = list(rng.choice(PLAIN, rng.integers(6, 15)))
        words += list(rng.choice(pools[m], 3)) + list(rng.choice(pools[(m + 1) % 3], 1))
        rng.shuffle(words)
        texts.append(" ".join(words))
    return texts, mood


rng = np.random.default_rng(SEED)
tok = ToyTokenizer()
train_texts, train_mood = make_tickets(1500, rng)
test_texts, test_mood = make_tickets(300, rng)

train = tf.data.Dataset.from_tensor_slices((tok(train_texts), train_mood)).shuffle(1500).batch(32)
test = tf.data.Dataset.from_tensor_slices((tok(test_texts), test_mood)).batch(64)

config = DistilBertConfig(vocab_size=len(WORDS), dim=64, n_layers=2, n_heads=4, hidden_dim=128,
                          max_position_embeddings=32, num_labels=3)
model = TFDistilBertForSequenceClassification(config)

model.compile(
    optimizer=tf.keras.optimizers.Adam(learning_rate=1e-3),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(),
    metrics=["accuracy"],
)
model.fit(train, validation_data=test, epochs=5, verbose=2)

logits = model.predict(test, verbose=0).logits
print("test accuracy: %.3f" % np.mean(logits.argmax(-1) == test_mood))
