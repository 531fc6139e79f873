"""Encoder learnt on many topic labels, then a new head for a handful of intents on top of the still encoder."""
import numpy as np
import torch
from transformers import (DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments,
                          set_seed)

set_seed(14)
N_TOPICS, PER_TOPIC, LEN = 12, 8, 12
COMMON = 30
VOCAB = 2 + COMMON + N_TOPICS * PER_TOPIC
g = np.random.default_rng(14)


def sentence(topic):
    ids = [1]
    for _ in range(LEN - 1):
        if g.random() < 0.35:
            ids.append(2 + COMMON + topic * PER_TOPIC + int(g.integers(PER_TOPIC)))
        else:
            ids.append(2 + int(g.integers(COMMON)))
    return ids


def topics(n):
    rows = []
    for _ in range(n):
        t = int(g.integers(N_TOPICS))
        rows.append({"input_ids": sentence(t), "attention_mask": [1] * LEN, "labels": t})
    return rows


INTENT_OF = g.permutation(N_TOPICS) % 3


def intents(n):
    rows = topics(n)
    for r in rows:
        r["labels"] = int(INTENT_OF[r["labels"]])
    return rows


def accuracy(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


def arguments(name, **kw):
    return TrainingArguments(output_dir=f"out", save_strategy="no", report_to="none",
                             use_cpu=True, disable_tqdm=True, per_device_eval_batch_size=100, **kw)


def config(n):
    return DistilBertConfig(vocab_size=VOCAB, dim=48, hidden_dim=96, n_layers=2, n_heads=4,
                            max_position_embeddings=LEN, num_labels=n)


base = DistilBertForSequenceClassification(config(N_TOPICS))
first = Trainer(base, arguments("topics", num_train_epochs=4, learning_rate=1e-3, per_device_train_batch_size=32,
                                logging_steps=100),
                train_dataset=topics(2500), eval_dataset=topics(300), compute_metrics=accuracy)
first.train()
print("topics", first.evaluate()["eval_accuracy"])

probe = DistilBertForSequenceClassification(config(3))
probe.distilbert.load_state_dict(base.distilbert.state_dict())
for p in probe.distilbert.parameters():
    p.requires_grad = False
print("trainable", sum(p.numel() for p in probe.parameters() if p.requires_grad),
      "of", sum(p.numel() for p in probe.parameters()))

second = Trainer(probe, arguments("intents", num_train_epochs=40, learning_rate=3e-3, per_device_train_batch_size=12,
                                  logging_steps=50),
                 train_dataset=intents(60), eval_dataset=intents(600), compute_metrics=accuracy)
print("intents before", second.evaluate()["eval_accuracy"])
second.train()
print("intents after", second.evaluate()["eval_accuracy"])
