import tempfile
from pathlib import Path

import numpy as np
from datasets import load_dataset
from transformers import (AutoModelForTokenClassification, AutoTokenizer, DataCollatorForTokenClassification, Trainer,
                          TrainingArguments)

path = next(p for p in Path(__file__).resolve().parents if (p / "assets").is_dir()) / "assets"
tokenizer = AutoTokenizer.from_pretrained(str(path / "distilbert-mini"))
LABELS = ["O", "SHORT", "LONG"]


def tag(word):
    return 1 if len(word) <= 3 else 2 if len(word) >= 7 else 0


def encode(batch):
    words = [text.split() for text in batch["premise"]]
    enc = tokenizer(words, is_split_into_words=True, truncation=True)
    enc["labels"] = []
    for i, row in enumerate(words):
        last, labels = None, []
        for w in enc.word_ids(i):
            labels.append(-100 if w is None or w == last else tag(row[w]))
            last = w
        enc["labels"].append(labels)
    return enc


raw = load_dataset(str(path / "nli"), "3_labels")
train = raw["train"].select(range(1600)).map(encode, batched=True, remove_columns=raw["train"].column_names)
val = raw["validation_matched"].select(range(100)).map(encode, batched=True, remove_columns=raw["train"].column_names)
model = AutoModelForTokenClassification.from_pretrained(
    str(path / "distilbert-mini"), id2label=dict(enumerate(LABELS)), label2id={n: i for i, n in enumerate(LABELS)})


def compute_metrics(eval_preds):
    logits, labels = eval_preds
    keep = labels != -100
    return {"accuracy": float((np.argmax(logits, -1)[keep] == labels[keep]).mean())}


args = TrainingArguments(output_dir=tempfile.mkdtemp(), num_train_epochs=1, per_device_train_batch_size=16, learning_rate=3e-4,
                         logging_steps=20, save_strategy="no", report_to="none", use_cpu=True, seed=3)
trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=val,
                  data_collator=DataCollatorForTokenClassification(tokenizer), compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
