import tempfile
from pathlib import Path

import numpy as np
import torch
from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments, set_seed

root = next(p for p in Path(__file__).resolve().parents if (p / "assets").is_dir())
ckpt = root / "assets" / "distilbert-mini"
set_seed(42)

ds = load_dataset(str(root / "assets" / "nli"), "3_labels")
tok = AutoTokenizer.from_pretrained(ckpt)
model = AutoModelForSequenceClassification.from_pretrained(ckpt, num_labels=3)


def collate(rows):
    """Tokenize on the fly: rows are raw text."""
    enc = tok([r["premise"] for r in rows], [r["hypothesis"] for r in rows], padding="longest", truncation=True,
              max_length=96, return_tensors="pt")
    enc["labels"] = torch.tensor([r["label"] for r in rows])
    return enc


def compute_metrics(p):
    return {"acc": float((np.argmax(p.predictions, axis=1) == p.label_ids).mean())}


args = TrainingArguments(
    output_dir=tempfile.mkdtemp(),
    remove_unused_columns=False,
    per_device_train_batch_size=16,
    learning_rate=1e-4,
    warmup_steps=10,
    max_steps=120,
    logging_steps=20,
    eval_strategy="steps",
    eval_steps=60,
    save_strategy="no",
    report_to=[],
    use_cpu=True,
)
trainer = Trainer(
    model=model,
    args=args,
    data_collator=collate,
    train_dataset=ds["train"],
    eval_dataset=ds["validation_matched"].select(range(200)),
    compute_metrics=compute_metrics,
)
trainer.train()
print(trainer.evaluate())
