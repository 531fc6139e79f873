import tempfile
from pathlib import Path

from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments

assets = next(p for p in Path(__file__).resolve().parents if (p / "assets").is_dir()) / "assets"


def main():
    tokenizer = AutoTokenizer.from_pretrained(assets / "distilbert-mini")
    model = AutoModelForSequenceClassification.from_pretrained(assets / "distilbert-mini", num_labels=3)
    ds = load_dataset(str(assets / "nli"), "3_labels")
    ds = ds.map(lambda r: tokenizer(r["premise"], r["hypothesis"], truncation=True))
    trainer = Trainer(
        model,
        TrainingArguments(tempfile.mkdtemp(), max_steps=30, report_to="none", use_cpu=True, save_strategy="no"),
        train_dataset=ds["train"],
        eval_dataset=ds["validation_matched"],
    )
    print("training on", len(ds["train"]))
    trainer.train()


main()
