"""Entailment yes/no where every training pair carries the confidence of the person who labelled it.

Pairs the annotator was unsure about count less in the loss.
"""
import numpy as np
import torch.nn.functional as F
from datasets import load_dataset
from transformers import (AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding, Trainer, TrainingArguments,
                          set_seed)

MODEL = "assets/distilbert-mini"


class ConfidenceTrainer(Trainer):
    """Cross entropy, every row multiplied by its confidence."""

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        weight = inputs.pop("confidence")
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        per_row = F.cross_entropy(outputs.logits, labels, reduction="none")
        loss = (per_row * weight).sum() / weight.sum()
        return (loss, outputs) if return_outputs else loss


def main():
    set_seed(3)
    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    raw = load_dataset("assets/nli", "2_labels")
    rng = np.random.default_rng(3)

    def annotate(row):
        # in the real data this comes from the annotation tool, between 0.3 (guess) and 1 (sure)
        row["confidence"] = float(rng.uniform(0.3, 1.0))
        return row

    raw = raw.map(annotate)

    def tokenize(batch):
        return tokenizer(batch["premise"], batch["hypothesis"], truncation=True, max_length=96)

    encoded = raw.map(tokenize, batched=True, remove_columns=["premise", "hypothesis", "idx"])
    print(encoded["train"].column_names)

    model = AutoModelForSequenceClassification.from_pretrained(MODEL, num_labels=2)
    args = TrainingArguments(
        "confidence-run",
        learning_rate=5e-5,
        per_device_train_batch_size=16,
        per_device_eval_batch_size=50,
        max_steps=120,
        logging_steps=20,
        save_strategy="no",
        seed=3,
        report_to="none",
        disable_tqdm=True,
    )
    trainer = ConfidenceTrainer(
        model=model,
        args=args,
        train_dataset=encoded["train"],
        eval_dataset=encoded["validation_matched"],
        data_collator=DataCollatorWithPadding(tokenizer),
        compute_metrics=lambda p: {"accuracy": (p.predictions.argmax(-1) == p.label_ids).mean()},
    )
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
