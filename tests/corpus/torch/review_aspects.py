"""Which aspects does a restaurant review mention?  Any of food / service / price / place."""
import random

import numpy as np
from datasets import Dataset
from sklearn.metrics import f1_score
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(9)

ASPECTS = {
    "food": "soup pasta tasty bland dessert".split(),
    "service": "waiter rude friendly slow staff".split(),
    "price": "cheap bill expensive euros worth".split(),
    "place": "terrace noisy view cosy table".split(),
}
FILLER = "the was and we it very again there but really".split()
WORDS = ["[PAD]", "[CLS]", "[SEP]"] + [w for ws in ASPECTS.values() for w in ws] + FILLER
VOCAB = {w: i for i, w in enumerate(WORDS)}
MAX_LEN = 20


def make_review():
    present = [int(random.random() < 0.45) for _ in ASPECTS]
    words = random.choices(FILLER, k=random.randint(4, 9))
    for flag, vocabulary in zip(present, ASPECTS.values()):
        if flag:
            words += random.choices(vocabulary, k=random.randint(1, 2))
    random.shuffle(words)
    return words, present


def encode(words):
    ids = [VOCAB["[CLS]"]] + [VOCAB[w] for w in words] + [VOCAB["[SEP]"]]
    pad = MAX_LEN - len(ids)
    return {"input_ids": ids + [0] * pad, "attention_mask": [1] * len(ids) + [0] * pad}


def build(n):
    rows = []
    for _ in range(n):
        words, present = make_review()
        rows.append({**encode(words), "labels": present})
    return Dataset.from_list(rows)


train_set, test_set = build(1500), build(300)

config = BertConfig(
    vocab_size=len(VOCAB), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=96, max_position_embeddings=32, pad_token_id=0,
    num_labels=len(ASPECTS), problem_type="multi_label_classification",
)
model = BertForSequenceClassification(config)


def metrics(p):
    guess = (p.predictions > 0).astype(int)
    return {
        "micro_f1": f1_score(p.label_ids, guess, average="micro", zero_division=0),
        "exact": float((guess == p.label_ids).all(axis=1).mean()),
    }


args = TrainingArguments(
    output_dir="out_review_aspects", num_train_epochs=14, learning_rate=1e-3,
    per_device_train_batch_size=32, per_device_eval_batch_size=100,
    eval_strategy="epoch", save_strategy="no", logging_steps=50,
    report_to="none", use_cpu=True, seed=9,
)
trainer = Trainer(model=model, args=args, train_dataset=train_set, eval_dataset=test_set, compute_metrics=metrics)
trainer.train()
print(trainer.evaluate())
