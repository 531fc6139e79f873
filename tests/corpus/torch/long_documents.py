import tempfile
from pathlib import Path

from datasets import Dataset, load_dataset
from transformers import (AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding, Trainer,
                          TrainingArguments)

assets = next(p for p in Path(__file__).resolve().parents if (p / "assets").is_dir()) / "assets"
tokenizer = AutoTokenizer.from_pretrained(assets / "distilbert-mini")
rows = load_dataset(str(assets / "nli"), "2_labels", split="train").select(range(1800))

# a "document" is forty sentences of one class
documents = {"text": [], "label": []}
for label in (0, 1):
    sentences = [r["hypothesis"] for r in rows if r["label"] == label]
    for i in range(0, len(sentences) - 40, 8):
        documents["text"].append(" ".join(sentences[i:i + 40 + i % 60]))
        documents["label"].append(label)
ds = Dataset.from_dict(documents).shuffle(seed=0)


def preprocess(batch):
    return tokenizer(batch["text"])


ds = ds.map(preprocess, batched=True, remove_columns=["text"])
model = AutoModelForSequenceClassification.from_pretrained(assets / "distilbert-mini", num_labels=2)
trainer = Trainer(
    model=model,
    args=TrainingArguments(output_dir=tempfile.mkdtemp(), max_steps=20, per_device_train_batch_size=4, logging_steps=5,
                           save_strategy="no", report_to="none", use_cpu=True),
    train_dataset=ds,
    data_collator=DataCollatorWithPadding(tokenizer),
)
trainer.train()
