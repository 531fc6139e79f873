import tempfile
from pathlib import Path

from datasets import load_dataset
from transformers import (AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding, Trainer,
                          TrainingArguments, set_seed)


def load(name):
    assets = next(p for p in Path(__file__).resolve().parents if (p / "assets").is_dir()) / "assets"
    return str(assets / name)


class MyTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        outputs = model(**inputs)
        if self.state.global_step % 10 == 0:
            print("step", self.state.global_step, "loss", outputs.loss.item())
        return (outputs.loss, outputs) if return_outputs else outputs.loss


set_seed(0)
tokenizer = AutoTokenizer.from_pretrained(load("distilbert-mini"))
ds = load_dataset(load("nli"), "5_labels")
ds = ds.map(lambda b: tokenizer(b["premise"], b["hypothesis"], truncation=True), batched=True)
model = AutoModelForSequenceClassification.from_pretrained(load("distilbert-mini"), num_labels=3)
args = TrainingArguments(tempfile.mkdtemp(), max_steps=60, per_device_train_batch_size=16, learning_rate=1e-4,
                         save_strategy="no", report_to="none", use_cpu=True)
trainer = MyTrainer(model=model, args=args, train_dataset=ds["train"], data_collator=DataCollatorWithPadding(tokenizer))
trainer.train()
