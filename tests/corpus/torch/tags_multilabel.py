import tempfile
from pathlib import Path

import numpy as np
from datasets import load_dataset
from transformers import (AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding, Trainer,
                          TrainingArguments, set_seed)

set_seed(1)
home = next(p for p in Path(__file__).resolve().parents if (p / "assets").is_dir()) / "assets"
tokenizer = AutoTokenizer.from_pretrained(home / "distilbert-mini")
raw = load_dataset(str(home / "nli"), "3_labels", split="train").select(range(1500))
TAGS = {"relative": ("uncle", "grandmother", "neighbour"), "carries": ("carrying",), "negation": ("not", "cannot")}


def prepare(row):
    words = set(row["premise"].lower().replace(".", " ").replace(",", " ").split())
    enc = tokenizer(row["premise"], truncation=True)
    enc["labels"] = [float(bool(words & set(terms))) for terms in TAGS.values()]
    return enc


ds = raw.map(prepare, remove_columns=raw.column_names).train_test_split(test_size=200, seed=1)
model = AutoModelForSequenceClassification.from_pretrained(
    home / "distilbert-mini", num_labels=len(TAGS), problem_type="multi_label_classification")


def metrics(pred):
    chosen = pred.predictions > 0
    return {"exact": float((chosen == (pred.label_ids > 0.5)).all(axis=1).mean()), "tags": float(np.mean(chosen))}


trainer = Trainer(
    model,
    TrainingArguments(tempfile.mkdtemp(), max_steps=100, learning_rate=2e-4, per_device_train_batch_size=16, logging_steps=10,
                      save_strategy="no", report_to="none", use_cpu=True),
    train_dataset=ds["train"], eval_dataset=ds["test"], data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=metrics)
trainer.train()
print(trainer.evaluate())
