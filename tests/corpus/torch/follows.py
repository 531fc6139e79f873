#!/usr/bin/env python
"""Fine-tune a small DistilBERT on premise / hypothesis pairs."""
import argparse

import numpy as np
from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments, set_seed


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--checkpoint", default="assets/distilbert-mini")
    ap.add_argument("--data", default="assets/nli")
    ap.add_argument("--epochs", type=float, default=2)
    ap.add_argument("--lr", type=float, default=5e-5)
    ap.add_argument("--rows", type=int, default=1600)
    a = ap.parse_args()
    set_seed(1)

    raw = load_dataset(a.data, "3_labels")
    names = raw["train"].features["label"].names
    tokenizer = AutoTokenizer.from_pretrained(a.checkpoint)
    enc = raw.map(lambda b: tokenizer(b["premise"], b["hypothesis"], truncation=True, max_length=80), batched=True)
    train = enc["train"].shuffle(seed=1).select(range(a.rows))

    model = AutoModelForSequenceClassification.from_pretrained(
        a.checkpoint, num_labels=len(names), id2label=dict(enumerate(names)),
        label2id={n: i for i, n in enumerate(names)})

    def compute_metrics(eval_pred):
        logits, labels = eval_pred
        guess = logits.argmax(axis=-1)
        per_class = {f"recall_{n}": float((guess[labels == i] == i).mean()) for i, n in enumerate(names)}
        return {"accuracy": float((guess == labels).mean()), **per_class}

    args = TrainingArguments(
        output_dir="out_follows", num_train_epochs=a.epochs, learning_rate=a.lr, per_device_train_batch_size=16,
        per_device_eval_batch_size=64, warmup_ratio=0.1, weight_decay=0.01, eval_strategy="epoch",
        logging_steps=50, save_strategy="no", report_to="none", disable_tqdm=True)
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=enc["validation_matched"],
                      processing_class=tokenizer, compute_metrics=compute_metrics)
    trainer.train()
    for split in ("validation_matched", "validation_mismatched"):
        m = trainer.evaluate(enc[split], metric_key_prefix=split)
        print(split, {k.split(split + "_")[1]: round(v, 3) for k, v in m.items() if "recall" in k or "accuracy" in k})


if __name__ == "__main__":
    main()
