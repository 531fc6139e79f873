import random

import numpy as np
from datasets import Dataset
from sklearn.metrics import accuracy_score, f1_score
import torch
from transformers import BertConfig, BertForTokenClassification, Trainer, TrainingArguments, set_seed

set_seed(8)
LABELS = ["O", "B-QTY", "B-ITEM", "I-ITEM", "B-CITY"]
QTY = ["two", "three", "four", "five", "six"]
ITEMS = [["garden", "chair"], ["desk", "lamp"], ["office", "chair"], ["garden", "table"], ["lamp"], ["table"]]
CITIES = ["paris", "lima", "oslo", "quito", "delhi"]
FILLER = "please could you kindly send and also us the order today garden lamp paris oslo two".split()


def sentence():
    words, tags = [], []

    def add(ws, ts):
        words.extend(ws)
        tags.extend(ts)

    noise = lambda k: add(random.choices(FILLER, k=k), [0] * k)
    noise(random.randint(0, 3))
    for _ in range(random.choice([1, 1, 1, 1, 5])):
        add(["buy", random.choice(QTY)], [0, 1])
        it = random.choice(ITEMS)
        add(it, [2] + [3] * (len(it) - 1))
        noise(random.randint(0, 2))
    add(["ship", "to", random.choice(CITIES)], [0, 0, 4])
    return words, tags


VOCAB = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "buy", "ship", "to"] + sorted({*QTY, *sum(ITEMS, []), *CITIES, *FILLER}))}


def build(n):
    rows = [sentence() for _ in range(n)]
    return Dataset.from_dict({"input_ids": [[VOCAB.get(w, 1) for w in r[0]] for r in rows], "labels": [r[1] for r in rows]})


def collate(features):
    longest = max(len(f["input_ids"]) for f in features)
    ids, mask, labels = [], [], []
    for f in features:
        gap = longest - len(f["input_ids"])
        ids.append(f["input_ids"] + [0] * gap)
        mask.append([1] * len(f["input_ids"]) + [0] * gap)
        labels.append(f["labels"] + [0] * gap)
    return {"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask), "labels": torch.tensor(labels)}


def compute_metrics(p):
    pred = np.argmax(p.predictions, axis=-1)
    keep = p.label_ids != -100
    y, z = p.label_ids[keep], pred[keep]
    return {"accuracy": accuracy_score(y, z), "entity_f1": f1_score(y, z, labels=[1, 2, 3, 4], average="micro", zero_division=0)}


config = BertConfig(vocab_size=len(VOCAB), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
                    max_position_embeddings=64, num_labels=len(LABELS))
model = BertForTokenClassification(config)
args = TrainingArguments(output_dir="ner_out", num_train_epochs=2, per_device_train_batch_size=16, per_device_eval_batch_size=32,
                         learning_rate=1e-3, warmup_ratio=0.1, eval_strategy="epoch", save_strategy="no", logging_steps=20,
                         report_to="none", use_cpu=True, disable_tqdm=True)
trainer = Trainer(model=model, args=args, train_dataset=build(480), eval_dataset=build(160),
                  data_collator=collate, compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
