"""Sharpness-aware minimisation inside the Trainer: two passes per step, on a small image transformer."""
import tempfile

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import TensorDataset
from transformers import Trainer, TrainingArguments, ViTConfig, ViTForImageClassification, set_seed


class SharpnessAwareTrainer(Trainer):
    def __init__(self, *args, rho=0.05, **kwargs):
        super().__init__(*args, **kwargs)
        self.rho = rho

    def training_step(self, model, inputs, num_items_in_batch=None):
        model.train()
        inputs = self._prepare_inputs(inputs)

        here = self.compute_loss(model, inputs)
        self.accelerator.backward(here)

        params = [p for p in model.parameters() if p.grad is not None]
        norm = torch.norm(torch.stack([p.grad.norm() for p in params]))
        shifts = []
        with torch.no_grad():
            for p in params:
                e = p.grad * (self.rho / (norm + 1e-12))
                p.add_(e)
                shifts.append(e)
        model.zero_grad()

        uphill = self.compute_loss(model, inputs)
        self.accelerator.backward(uphill)
        with torch.no_grad():
            for p, e in zip(params, shifts):
                p.sub_(e)
        return here.detach()


def to_batch(rows):
    return {"pixel_values": torch.stack([r[0] for r in rows]), "labels": torch.stack([r[1] for r in rows])}


def accuracy(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


def main():
    set_seed(63)
    x, y = load_digits(return_X_y=True)
    x = (x.reshape(-1, 1, 8, 8).astype(np.float32) - 4.88) / 6.02
    xa, xb, ya, yb = train_test_split(x, y, test_size=0.2, random_state=63, stratify=y)
    train = TensorDataset(torch.from_numpy(xa), torch.from_numpy(ya))
    test = TensorDataset(torch.from_numpy(xb), torch.from_numpy(yb))
    model = ViTForImageClassification(ViTConfig(
        image_size=8, patch_size=2, num_channels=1, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=128, num_labels=10, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))
    with tempfile.TemporaryDirectory() as tmp:
        args = TrainingArguments(tmp, num_train_epochs=18, per_device_train_batch_size=32, learning_rate=1.5e-3,
                                 per_device_eval_batch_size=120, weight_decay=0.02, warmup_ratio=0.1,
                                 lr_scheduler_type="cosine", remove_unused_columns=False, eval_strategy="epoch",
                                 save_strategy="no", logging_steps=30, report_to="none", disable_tqdm=True)
        trainer = SharpnessAwareTrainer(model=model, args=args, train_dataset=train, eval_dataset=test,
                                        data_collator=to_batch, compute_metrics=accuracy, rho=0.05)
        trainer.train()
        print(trainer.evaluate())


if __name__ == "__main__":
    main()
