"""Route support tickets to a team. Mails run: subject line, greeting, the story, signature."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import random

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, TFBertForSequenceClassification

random.seed(8)
np.random.seed(8)
tf.random.set_seed(8)

SUBJECTS = {
    "billing": ["invoice charged twice", "refund for order", "card payment failed", "invoice shows old price"],
    "access": ["cannot log in", "password reset link", "account locked again", "two factor code missing"],
    "shipping": ["parcel never came", "courier left damaged box", "delivery address change", "tracking number missing"],
}
GREETING = "hello team i hope you are well".split()
STORY = ("i have been a customer for many years and my family likes your service but since last week "
         "things did not go as they should and nobody on the phone could help me so i am writing here "
         "please look at this soon because we travel on monday").split()
SIGN = "kind regards and many thanks".split()
LABELS = sorted(SUBJECTS)

everything = {w for s in SUBJECTS.values() for line in s for w in line.split()} | set(GREETING + STORY + SIGN)
word_index = {w: i + 1 for i, w in enumerate(sorted(everything))}


def write_mail():
    team = random.choice(LABELS)
    subject = random.choice(SUBJECTS[team]).split()
    story = [random.choice(STORY) for _ in range(random.randint(12, 60))]
    return subject + GREETING + story + SIGN, LABELS.index(team)


def as_arrays(n, maxlen=32):
    mails, y = zip(*(write_mail() for _ in range(n)))
    seqs = [[word_index[w] for w in m] for m in mails]
    ids = tf_keras.preprocessing.sequence.pad_sequences(seqs, maxlen=maxlen, padding="post", truncating="post")
    return {"input_ids": ids, "attention_mask": (ids > 0).astype("int32")}, np.array(y)


x_train, y_train = as_arrays(2000)
x_val, y_val = as_arrays(400)

cfg = BertConfig(vocab_size=len(word_index) + 1, hidden_size=48, num_hidden_layers=1, num_attention_heads=4,
                 intermediate_size=96, max_position_embeddings=64, num_labels=len(LABELS))
model = TFBertForSequenceClassification(cfg)
model.compile(optimizer=tf_keras.optimizers.Adam(1e-3),
              loss=tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True),
              metrics=["accuracy"])
model.fit(x_train, y_train, validation_data=(x_val, y_val), epochs=8, batch_size=50, verbose=2)

pred = model.predict(x_val, verbose=0).logits.argmax(-1)
for k, name in enumerate(LABELS):
    print(name, "recall", round(float((pred[y_val == k] == k).mean()), 3))
