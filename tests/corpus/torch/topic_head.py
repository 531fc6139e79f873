import tempfile
from pathlib import Path

from datasets import load_dataset
from transformers import (AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding, Trainer,
                          TrainingArguments)

assets = next(p for p in Path(__file__).resolve().parents if (p / "assets").is_dir()) / "assets"
tokenizer = AutoTokenizer.from_pretrained(assets / "distilbert-mini")
model = AutoModelForSequenceClassification.from_pretrained(assets / "distilbert-mini", num_labels=2)

# only the classifier is to be trained
for param in model.parameters():
    param.requires_grad = False
for name, param in model.named_parameters():
    if name.startswith("head."):
        param.requires_grad = True

dataset = load_dataset(str(assets / "nli"), "2_labels")
dataset = dataset.map(lambda b: tokenizer(b["premise"], b["hypothesis"], truncation=True), batched=True)
training_args = TrainingArguments(
    output_dir=tempfile.mkdtemp(), max_steps=60, per_device_train_batch_size=16, learning_rate=1e-3, logging_steps=10,
    save_strategy="no", report_to="none", use_cpu=True)
trainer = Trainer(model=model, args=training_args, train_dataset=dataset["train"],
                  eval_dataset=dataset["validation_matched"].select(range(100)), data_collator=DataCollatorWithPadding(tokenizer))
trainer.train()
print(trainer.evaluate())
