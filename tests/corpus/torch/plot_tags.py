import random

import numpy as np
from datasets import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(8)
tags = ["crime", "romance", "space", "comedy"]
cues = {"crime": ["detective", "heist", "murder"], "romance": ["kiss", "wedding", "lovers"],
        "space": ["rocket", "planet", "alien"], "comedy": ["joke", "clumsy", "prank"]}
other = ["a", "young", "man", "woman", "city", "finds", "then", "the", "night", "meets"]
vocab = ["[PAD]"] + other + [w for t in tags for w in cues[t]]
token_id = {w: i for i, w in enumerate(vocab)}


def make_plot():
    chosen = [t for t in tags if random.random() < 0.4]
    words = random.choices(other, k=12 - 2 * len(chosen))
    for t in chosen:
        words += random.choices(cues[t], k=2)
    random.shuffle(words)
    return words, chosen


rows = {"input_ids": [], "attention_mask": [], "labels": []}
for _ in range(800):
    words, chosen = make_plot()
    rows["input_ids"].append([token_id[w] for w in words])
    rows["attention_mask"].append([1] * len(words))
    rows["labels"].append([1 if t in chosen else 0 for t in tags])
data = Dataset.from_dict(rows).train_test_split(test_size=150, seed=8)

config = BertConfig(vocab_size=len(vocab), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=96, max_position_embeddings=16, num_labels=len(tags),
                    problem_type="multi_label_classification",
                    id2label=dict(enumerate(tags)), label2id={t: i for i, t in enumerate(tags)})
model = BertForSequenceClassification(config)


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    preds = (1 / (1 + np.exp(-logits)) > 0.5).astype(int)
    tp = ((preds == 1) & (labels == 1)).sum()
    return {"f1": float(2 * tp / (preds.sum() + labels.sum()))}


args = TrainingArguments(output_dir="plots", learning_rate=2e-3, num_train_epochs=8, per_device_train_batch_size=25,
                         eval_strategy="epoch", save_strategy="no", logging_steps=26, report_to="none", use_cpu=True)
trainer = Trainer(model=model, args=args, train_dataset=data["train"], eval_dataset=data["test"],
                  compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
