import tempfile
from pathlib import Path

from datasets import load_dataset
from transformers import (AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding, Trainer,
                          TrainingArguments)

assets = next(p for p in Path(__file__).resolve().parents if (p / "assets").is_dir()) / "assets"
raw_datasets = load_dataset(str(assets / "nli"), "2_labels")
checkpoint = str(assets / "distilbert-mini")
tokenizer = AutoTokenizer.from_pretrained(checkpoint)


def tokenize_function(example):
    return tokenizer(example["premise"], example["hypothesis"], truncation=True)


tokenized_datasets = raw_datasets.map(tokenize_function, batched=True)
data_collator = DataCollatorWithPadding(tokenizer=tokenizer)
training_args = TrainingArguments(tempfile.mkdtemp(), max_steps=50, report_to="none", use_cpu=True, save_strategy="no")
model = AutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=2)

trainer = Trainer(
    model,
    training_args,
    train_dataset=raw_datasets["train"],
    eval_dataset=raw_datasets["validation_matched"],
    data_collator=data_collator,
)
trainer.train()
