import tempfile
from pathlib import Path

import torch
from datasets import load_dataset
from torch import nn
from transformers import (AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding, Trainer, TrainingArguments,
                          set_seed)


class WeightedTrainer(Trainer):
    def __init__(self, *args, class_weights, **kwargs):
        super().__init__(*args, **kwargs)
        self.class_weights = class_weights

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = nn.functional.cross_entropy(outputs.logits, labels, weight=self.class_weights)
        return (loss, outputs) if return_outputs else loss


def main():
    set_seed(5)
    assets = next(p for p in Path(__file__).resolve().parents if (p / "assets").is_dir()) / "assets"
    ds = load_dataset(str(assets / "nli"), "2_labels")
    tok = AutoTokenizer.from_pretrained(assets / "distilbert-mini")
    # keep a quarter of one class
    train = ds["train"].filter(lambda row: row["label"] == 0 or row["idx"] % 4 == 0)
    train = train.map(lambda b: tok(b["premise"], b["hypothesis"], truncation=True), batched=True)
    val = ds["validation_matched"].select(range(200)).map(lambda b: tok(b["premise"], b["hypothesis"], truncation=True), batched=True)
    counts = torch.bincount(torch.tensor(train["label"][:]))
    weights = counts.sum() / (2 * counts.float())
    model = AutoModelForSequenceClassification.from_pretrained(assets / "distilbert-mini", num_labels=2)
    args = TrainingArguments(tempfile.mkdtemp(), max_steps=120, per_device_train_batch_size=16, learning_rate=1e-4,
                             lr_scheduler_type="cosine", gradient_accumulation_steps=1, logging_steps=20, save_strategy="no",
                             report_to="none", use_cpu=True)
    trainer = WeightedTrainer(model=model, args=args, train_dataset=train, eval_dataset=val, data_collator=DataCollatorWithPadding(tok),
                              compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())},
                              class_weights=weights)
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
