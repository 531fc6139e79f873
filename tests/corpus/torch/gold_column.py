import tempfile
from pathlib import Path

from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments

assets = next(p for p in Path(__file__).resolve().parents if (p / "assets").is_dir()) / "assets"
tokenizer = AutoTokenizer.from_pretrained(assets / "distilbert-mini")
raw = load_dataset(str(assets / "nli"), "2_labels")
# our annotation tool exports it under this name
raw = raw.rename_column("label", "gold")
data = raw.map(lambda rows: tokenizer(rows["premise"], rows["hypothesis"], truncation=True), batched=True,
               remove_columns=["premise", "hypothesis", "idx"])
model = AutoModelForSequenceClassification.from_pretrained(assets / "distilbert-mini", num_labels=2)
args = TrainingArguments(output_dir=tempfile.mkdtemp(), max_steps=40, per_device_train_batch_size=16, learning_rate=1e-4,
                         save_strategy="no", report_to="none", use_cpu=True)
trainer = Trainer(
    model=model, args=args, processing_class=tokenizer,
    train_dataset=data["train"], eval_dataset=data["validation_matched"].select(range(64)),
)
trainer.train()
