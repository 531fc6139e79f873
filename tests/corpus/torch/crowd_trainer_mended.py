import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from datasets import Dataset
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from transformers import Trainer, TrainingArguments, set_seed

TRUST = {"expert": 1.0, "crowd": 0.05}


class PixelMLP(nn.Module):
    def __init__(self, n_in=64, n_classes=10, width=128):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(n_in, width), nn.GELU(), nn.Dropout(0.1),
            nn.Linear(width, width), nn.GELU(),
            nn.Linear(width, n_classes),
        )

    def forward(self, pixels, labels=None):
        logits = self.layers(pixels)
        loss = F.cross_entropy(logits, labels) if labels is not None else None
        return {"loss": loss, "logits": logits} if loss is not None else {"logits": logits}


class TrustTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        trust = inputs.pop("trust", None)
        outputs = model(**inputs)
        per_row = F.cross_entropy(outputs["logits"], inputs["labels"], reduction="none")
        if trust is None:
            loss = per_row.mean()
        else:
            loss = (per_row * trust).sum() / trust.sum()
        return (loss, outputs) if return_outputs else loss


def annotate(y, rng, crowd_share=0.7):
    """The crowd mixes up neighbouring classes, the experts do not."""
    crowd = rng.random(len(y)) < crowd_share
    labels = y.copy()
    confused = crowd & (rng.random(len(y)) < 0.7)
    labels[confused] = (labels[confused] + 1) % 10
    trust = np.where(crowd, TRUST["crowd"], TRUST["expert"])
    return labels, trust.astype("float32")


def to_dataset(X, labels, trust=None):
    columns = {"pixels": (X / 16.0).astype("float32"), "labels": labels}
    if trust is not None:
        columns["trust"] = trust
    return Dataset.from_dict(columns)


def compute_metrics(pred):
    guess = pred.predictions.argmax(-1)
    return {"accuracy": float((guess == pred.label_ids).mean())}


def main():
    set_seed(21)
    rng = np.random.default_rng(21)
    X, y = load_digits(return_X_y=True)
    X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.3, stratify=y, random_state=2)
    labels, trust = annotate(y_tr, rng)
    print(f"rows by experts {int((trust == 1).sum())}, by the crowd {int((trust < 1).sum())}")

    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(),
        num_train_epochs=12,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=128,
        learning_rate=2e-3,
        eval_strategy="epoch",
        save_strategy="no",
        remove_unused_columns=False,
        logging_steps=100,
        disable_tqdm=True,
        report_to=[],
        use_cpu=True,
        seed=21,
    )
    trainer = TrustTrainer(
        model=PixelMLP(),
        args=args,
        train_dataset=to_dataset(X_tr, labels, trust),
        eval_dataset=to_dataset(X_te, y_te),
        compute_metrics=compute_metrics,
    )
    trainer.train()
    result = trainer.evaluate()
    print(f"test accuracy against expert labels: {result['eval_accuracy']:.3f}")


if __name__ == "__main__":
    main()
