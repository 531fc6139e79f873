import tempfile
from pathlib import Path

from datasets import load_dataset
from transformers import (AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding, EarlyStoppingCallback,
                          Trainer, TrainingArguments, set_seed)

set_seed(3)
assets = next(p for p in Path(__file__).resolve().parents if (p / "assets").is_dir()) / "assets"
tok = AutoTokenizer.from_pretrained(assets / "distilbert-mini")
model = AutoModelForSequenceClassification.from_pretrained(assets / "distilbert-mini", num_labels=2)
for p in model.distilbert.embeddings.parameters():
    p.requires_grad_(False)
for layer in model.distilbert.transformer.layer[:3]:
    layer.requires_grad_(False)

ds = load_dataset(str(assets / "nli"), "2_labels").map(lambda b: tok(b["premise"], b["hypothesis"], truncation=True), batched=True)
args = TrainingArguments(
    output_dir=tempfile.mkdtemp(), max_steps=100, per_device_train_batch_size=8, gradient_accumulation_steps=2, learning_rate=2e-4,
    label_smoothing_factor=0.1, weight_decay=0.01, warmup_steps=10, logging_steps=20, eval_strategy="steps", eval_steps=50,
    save_strategy="steps", save_steps=50, load_best_model_at_end=True, metric_for_best_model="accuracy", report_to="none", use_cpu=True)
trainer = Trainer(
    model=model, args=args, train_dataset=ds["train"], eval_dataset=ds["validation_matched"].select(range(150)),
    data_collator=DataCollatorWithPadding(tok), callbacks=[EarlyStoppingCallback(early_stopping_patience=3)],
    compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())})
trainer.train()
print(trainer.evaluate())
