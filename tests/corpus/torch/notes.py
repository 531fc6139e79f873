import random
import numpy as np
import torch
from datasets import Dataset
from transformers import (DistilBertConfig, DistilBertForSequenceClassification, Trainer,
                          TrainingArguments, set_seed)

set_seed(4)
parts = {0: ["fever", "cough", "sore throat", "runny nose"], 1: ["knee pain", "swollen ankle", "stiff shoulder", "back pain"],
         2: ["rash", "itching", "dry skin", "red spots"]}
texts, labels = [], []
for _ in range(600):
    y = random.randrange(3)
    found = random.sample(parts[y], 2)
    texts.append(f"patient reports {found[0]} and {found[1]} since {random.randint(1, 9)} days")
    labels.append(y)

words = sorted({w for t in texts for w in t.split()})
word_id = {w: i + 1 for i, w in enumerate(words)}
ds = Dataset.from_dict({"text": texts, "label": labels}).train_test_split(test_size=0.2, seed=4)


def collate(rows):
    ids = [[word_id[w] for w in r["text"].split()] for r in rows]
    width = max(len(x) for x in ids)
    return {
        "input_ids": torch.tensor([x + [0] * (width - len(x)) for x in ids]),
        "attention_mask": torch.tensor([[1] * len(x) + [0] * (width - len(x)) for x in ids]),
        "labels": torch.tensor([r["label"] for r in rows]),
    }


model = DistilBertForSequenceClassification(DistilBertConfig(
    vocab_size=len(word_id) + 1, dim=48, n_layers=2, n_heads=4, hidden_dim=96, max_position_embeddings=32, num_labels=3))

args = TrainingArguments(output_dir="out_notes", num_train_epochs=5, per_device_train_batch_size=16, learning_rate=1e-3,
                         eval_strategy="epoch", save_strategy="no", report_to="none", use_cpu=True, disable_tqdm=True)
trainer = Trainer(
    model=model, args=args, data_collator=collate,
    train_dataset=ds["train"], eval_dataset=ds["test"],
    compute_metrics=lambda p: {"accuracy": float((np.argmax(p.predictions, -1) == p.label_ids).mean())},
)
trainer.train()
print("accuracy", trainer.evaluate()["eval_accuracy"])
