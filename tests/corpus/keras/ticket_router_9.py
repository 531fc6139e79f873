import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import random

import numpy as np
import tensorflow as tf
import tf_keras
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import BertConfig, PreTrainedTokenizerFast, TFBertForSequenceClassification

random.seed(11)
np.random.seed(11)
tf.random.set_seed(11)

TOPICS = {
    "billing": ["invoice", "refund", "charge", "card", "payment", "price"],
    "login": ["password", "account", "locked", "email", "signin", "token"],
    "shipping": ["parcel", "courier", "tracking", "late", "address", "box"],
    "hardware": ["screen", "battery", "cable", "broken", "fan", "keyboard"],
}
FILLER = ("hello i have a question about the thing please help me since last week my "
          "it does not work and we would like to know what can be done thanks").split()
NAMES = list(TOPICS)


def make_ticket():
    k = random.randrange(len(NAMES))
    n = random.randint(6, 22)
    words = [random.choice(FILLER) for _ in range(n)]
    for _ in range(2):
        words.insert(random.randrange(len(words)), random.choice(TOPICS[NAMES[k]]))
    other = random.choice([t for t in NAMES if t != NAMES[k]])
    words.insert(random.randrange(len(words)), random.choice(TOPICS[other]))
    return " ".join(words), k


def build_tokenizer(texts):
    tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    tok.train_from_iterator(texts, trainer)
    tok.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]",
                                   cls_token="[CLS]", sep_token="[SEP]")


def train_batches(tokenizer, texts, labels, batch_size):
    order = np.random.permutation(len(texts))
    for i in range(0, len(order), batch_size):
        idx = order[i:i + batch_size]
        enc = tokenizer([texts[j] for j in idx], padding="longest", return_tensors="tf")
        yield enc["input_ids"], enc["attention_mask"], tf.constant(labels[idx])


def predict(model, tokenizer, texts, batch_size=64):
    out = []
    for i in range(0, len(texts), batch_size):
        enc = tokenizer(texts[i:i + batch_size], padding="max_length", max_length=128,
                        truncation=True, return_tensors="tf")
        logits = model(enc["input_ids"], training=False).logits
        out.append(tf.argmax(logits, axis=-1).numpy())
    return np.concatenate(out)


tickets = [make_ticket() for _ in range(1500)]
texts = [t for t, _ in tickets]
labels = np.array([k for _, k in tickets])
tokenizer = build_tokenizer(texts[:1200])

config = BertConfig(vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2,
                    num_attention_heads=4, intermediate_size=128, num_labels=len(NAMES),
                    max_position_embeddings=128)
model = TFBertForSequenceClassification(config)
optimizer = tf_keras.optimizers.Adam(1e-3)


@tf.function(reduce_retracing=True)
def train_step(ids, mask, y):
    with tf.GradientTape() as tape:
        result = model(input_ids=ids, attention_mask=mask, labels=y, training=True)
        loss = tf.reduce_mean(result.loss)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(5):
    losses = [float(train_step(*b)) for b in train_batches(tokenizer, texts[:1200], labels[:1200], 32)]
    print(f"epoch {epoch} loss {np.mean(losses):.4f}")

pred = predict(model, tokenizer, texts[1200:])
print("test accuracy", round(float((pred == labels[1200:]).mean()), 4))
print("predicted counts", dict(zip(NAMES, np.bincount(pred, minlength=4).tolist())))
