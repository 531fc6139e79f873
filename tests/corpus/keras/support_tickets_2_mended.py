import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import random
import numpy as np
import tensorflow as tf
import tf_keras as keras
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification

keras.utils.set_random_seed(8)
random.seed(8)

TOPICS = {
    "billing": "invoice refund charge card payment price receipt bank".split(),
    "login": "password account locked reset code signin user email".split(),
    "delivery": "parcel late courier address tracking door box lost".split(),
    "device": "screen battery broken cable button noise hot restart".split(),
}
FILLER = "please hello my the is was a not help with today again i have no and it thanks still very".split()
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + FILLER + [w for ws in TOPICS.values() for w in ws]
INDEX = {w: i for i, w in enumerate(WORDS)}
NAMES = list(TOPICS)
LENGTH = 20


def ticket():
    label = random.randrange(len(NAMES))
    n = random.randint(8, LENGTH - 2)
    words = random.choices(FILLER, k=n)
    for p in random.sample(range(n), 3):
        words[p] = random.choice(TOPICS[NAMES[label]])
    stray = random.choice(NAMES)
    words[random.randrange(n)] = random.choice(TOPICS[stray])
    return words, label


def batchify(n):
    ids = np.zeros((n, LENGTH), "int32")
    y = np.zeros(n, "int32")
    for r in range(n):
        words, y[r] = ticket()
        row = [INDEX["[CLS]"]] + [INDEX[w] for w in words] + [INDEX["[SEP]"]]
        ids[r, :len(row)] = row
    return {"input_ids": ids, "attention_mask": (ids > 0).astype("int32")}, y


train_x, train_y = batchify(2000)
test_x, test_y = batchify(500)

config = DistilBertConfig(
    vocab_size=len(WORDS),
    max_position_embeddings=LENGTH,
    dim=64,
    n_layers=2,
    n_heads=4,
    hidden_dim=128,
    dropout=0.1,
    initializer_range=0.02,
    num_labels=len(NAMES),
)
model = TFDistilBertForSequenceClassification(config)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(train_x, train_y, validation_data=(test_x, test_y), batch_size=32, epochs=5, verbose=2)
logits = model.predict(test_x, verbose=0).logits
for k, name in enumerate(NAMES):
    print(name, "recall", round(float(np.mean(logits[test_y == k].argmax(-1) == k)), 3))
