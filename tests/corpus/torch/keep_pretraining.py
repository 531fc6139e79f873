import tempfile
from pathlib import Path

from datasets import load_dataset
from transformers import (AutoModelForMaskedLM, AutoTokenizer, DataCollatorForLanguageModeling, Trainer, TrainingArguments,
                          set_seed)

set_seed(0)
assets = next(p for p in Path(__file__).resolve().parents if (p / "assets").is_dir()) / "assets"
tokenizer = AutoTokenizer.from_pretrained(assets / "distilbert-mini")
model = AutoModelForMaskedLM.from_pretrained(assets / "distilbert-mini")
text = load_dataset(str(assets / "nli"), "3_labels", split="train").select(range(1500))
text = text.map(lambda b: tokenizer(b["premise"], truncation=True, max_length=64), batched=True, remove_columns=text.column_names)
args = TrainingArguments(tempfile.mkdtemp(), max_steps=60, per_device_train_batch_size=16, learning_rate=1e-4, logging_steps=10,
                         save_strategy="no", report_to="none", use_cpu=True)
trainer = Trainer(model=model, args=args, train_dataset=text,
                  data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=True, mlm_probability=0.15))
trainer.train()
