import tempfile
from dataclasses import dataclass, field

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import Dataset
from transformers import (Trainer, TrainerCallback, TrainingArguments, ViTConfig, ViTForImageClassification,
                          set_seed)


@dataclass
class Experiment:
    seed: int = 13
    training: dict = field(default_factory=lambda: dict(
        num_train_epochs=6,
        learning_rate=1e-3,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=128,
        weight_decay=0.01,
        warmup_steps=2000,
        lr_scheduler_type="linear",
        logging_strategy="epoch",
        eval_strategy="epoch",
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    ))
    vit: dict = field(default_factory=lambda: dict(
        image_size=8, patch_size=2, num_channels=1, hidden_size=64, num_hidden_layers=3,
        num_attention_heads=4, intermediate_size=128, num_labels=10,
    ))


class DigitImages(Dataset):
    def __init__(self, images, target):
        self.images = torch.tensor((images - 8.0) / 8.0, dtype=torch.float32).unsqueeze(1)
        self.target = target

    def __len__(self):
        return len(self.target)

    def __getitem__(self, i):
        return {"pixel_values": self.images[i], "labels": int(self.target[i])}


class EpochTable(TrainerCallback):
    def __init__(self):
        self.rows = []

    def on_evaluate(self, args, state, control, metrics=None, **kwargs):
        self.rows.append((state.epoch, metrics["eval_loss"], metrics["eval_accuracy"]))


def accuracy(eval_pred):
    logits, labels = eval_pred
    return {"accuracy": float(np.mean(np.argmax(logits, axis=1) == labels))}


def run(exp):
    set_seed(exp.seed)
    digits = load_digits()
    xtr, xte, ytr, yte = train_test_split(digits.images, digits.target, test_size=0.2,
                                          stratify=digits.target, random_state=exp.seed)
    table = EpochTable()
    model = ViTForImageClassification(ViTConfig(**exp.vit))
    with tempfile.TemporaryDirectory() as out:
        trainer = Trainer(model=model, args=TrainingArguments(output_dir=out, **exp.training),
                          train_dataset=DigitImages(xtr, ytr), eval_dataset=DigitImages(xte, yte),
                          compute_metrics=accuracy, callbacks=[table])
        outcome = trainer.train()
    for epoch, loss, acc in table.rows:
        print(f"epoch {epoch:.0f}  eval loss {loss:.3f}  accuracy {acc:.3f}")
    print(f"{outcome.global_step} steps, train loss {outcome.training_loss:.3f}, final accuracy {table.rows[-1][2]:.3f}")


if __name__ == "__main__":
    run(Experiment())
