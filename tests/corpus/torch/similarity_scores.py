import tempfile
from pathlib import Path

import numpy as np
from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments

A = next(p for p in Path(__file__).resolve().parents if (p / "assets").is_dir()) / "assets"
tok = AutoTokenizer.from_pretrained(A / "distilbert-mini")


def overlap(row):
    a, b = set(row["premise"].lower().split()), set(row["hypothesis"].lower().split())
    return 5.0 * len(a & b) / len(a | b)


def encode(row):
    out = tok(row["premise"], row["hypothesis"], truncation=True, max_length=80)
    out["label"] = overlap(row)
    return out


raw = load_dataset(str(A / "nli"), "3_labels")
cols = raw["train"].column_names
train = raw["train"].select(range(2000)).map(encode, remove_columns=cols)
test = raw["validation_matched"].select(range(200)).map(encode, remove_columns=cols)
model = AutoModelForSequenceClassification.from_pretrained(A / "distilbert-mini", num_labels=1)


def pearson(p):
    return {"pearson": float(np.corrcoef(p.predictions[:, 0], p.label_ids)[0, 1])}


trainer = Trainer(
    model=model,
    args=TrainingArguments(output_dir=tempfile.mkdtemp(), max_steps=120, per_device_train_batch_size=16, learning_rate=2e-4,
                           warmup_ratio=0.1, logging_steps=20, save_strategy="no", report_to="none", use_cpu=True, seed=8),
    train_dataset=train, eval_dataset=test, processing_class=tok, compute_metrics=pearson)
trainer.train()
print(trainer.evaluate())
