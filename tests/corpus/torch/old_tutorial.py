import tempfile
from pathlib import Path

from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments

assets = next(p for p in Path(__file__).resolve().parents if (p / "assets").is_dir()) / "assets"
dataset = load_dataset(str(assets / "nli"), "3_labels")
tokenizer = AutoTokenizer.from_pretrained(assets / "distilbert-mini")
tokenized = dataset.map(lambda x: tokenizer(x["premise"], x["hypothesis"], padding="max_length", max_length=64, truncation=True),
                        batched=True)
model = AutoModelForSequenceClassification.from_pretrained(assets / "distilbert-mini", num_labels=3)
training_args = TrainingArguments(
    output_dir=tempfile.mkdtemp(),
    evaluation_strategy="epoch",
    num_train_epochs=1,
    max_steps=20,
    report_to="none",
    use_cpu=True,
)
trainer = Trainer(model=model, args=training_args, train_dataset=tokenized["train"], eval_dataset=tokenized["validation_matched"])
trainer.train()
