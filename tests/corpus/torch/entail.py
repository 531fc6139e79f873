import numpy as np
from datasets import load_dataset
from transformers import (AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding, Trainer,
                          TrainingArguments, set_seed)

set_seed(3)
checkpoint = "assets/distilbert-mini"
raw = load_dataset("assets/nli", "3_labels")
names = raw["train"].features["label"].names
tokenizer = AutoTokenizer.from_pretrained(checkpoint)


def preprocess(examples):
    return tokenizer(examples["premise"], examples["hypothesis"], truncation=True, max_length=128)


encoded = raw.map(preprocess, batched=True, remove_columns=["premise", "hypothesis", "idx"])
model = AutoModelForSequenceClassification.from_pretrained(
    checkpoint, num_labels=len(names), id2label=dict(enumerate(names)),
    label2id={n: i for i, n in enumerate(names)})


def compute_metrics(eval_pred):
    preds = eval_pred.predictions.argmax(axis=-1)
    out = {"accuracy": float((preds == eval_pred.label_ids).mean())}
    for i, n in enumerate(names):
        out[f"recall_{n}"] = float((preds[eval_pred.label_ids == i] == i).mean())
    return out


args = TrainingArguments(
    output_dir="entail", learning_rate=1e-4, num_train_epochs=2, per_device_train_batch_size=32,
    per_device_eval_batch_size=64, warmup_ratio=0.1, weight_decay=0.01, eval_strategy="epoch",
    save_strategy="no", logging_steps=20, report_to="none", use_cpu=True)
trainer = Trainer(model=model, args=args, train_dataset=encoded["train"],
                  eval_dataset=encoded["validation_matched"], processing_class=tokenizer,
                  data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=compute_metrics)
trainer.train()
for split in ("validation_matched", "validation_mismatched"):
    print(split, trainer.evaluate(encoded[split]))
