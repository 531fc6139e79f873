import tempfile
from pathlib import Path

from datasets import load_dataset
from sklearn.metrics import accuracy_score, f1_score
from transformers import (AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding, Trainer,
                          TrainingArguments)

assets = next(p for p in Path(__file__).resolve().parents if (p / "assets").is_dir()) / "assets"
raw = load_dataset(str(assets / "nli"), "3_labels")
tokenizer = AutoTokenizer.from_pretrained(assets / "distilbert-mini")


def tokenize(batch):
    return tokenizer(batch["premise"], batch["hypothesis"], truncation=True)


encoded = raw.map(tokenize, batched=True)
model = AutoModelForSequenceClassification.from_pretrained(assets / "distilbert-mini", num_labels=3)


def compute_metrics(eval_pred):
    predictions, labels = eval_pred
    return {
        "accuracy": accuracy_score(labels, predictions),
        "f1": f1_score(labels, predictions, average="macro"),
    }


args = TrainingArguments(tempfile.mkdtemp(), learning_rate=1e-4, per_device_train_batch_size=16, max_steps=40, logging_steps=10,
                         eval_strategy="steps", eval_steps=40, save_strategy="no", report_to="none", use_cpu=True)
trainer = Trainer(model, args, train_dataset=encoded["train"], eval_dataset=encoded["validation_matched"].select(range(100)),
                  data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=compute_metrics)
trainer.train()
