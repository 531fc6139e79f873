"""Enamel badges: a small CNN learns plain patterns first, then is fine-tuned on the badge catalogue."""
import argparse
import logging

import numpy as np
import torch
from torch import nn
from torch.utils.data import TensorDataset
from transformers import Trainer, TrainerCallback, TrainingArguments, set_seed

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("enamel")
SIZE = 20


def stripes(n, g):
    """Source task: horizontal or vertical stripes."""
    y = g.integers(0, 2, n)
    line = np.sin(np.arange(SIZE)[None] * g.uniform(0.6, 1.4, (n, 1)) + g.uniform(0, 6, (n, 1)))
    x = np.where(y[:, None, None] == 0, line[:, :, None], line[:, None, :]) * np.ones((n, SIZE, SIZE))
    return x + 0.3 * g.standard_normal(x.shape), y


def badges(n, g):
    """Target task: ring, disc, cross, diagonal cross, corner, square frame; anywhere on the cloth."""
    y = g.integers(0, 6, n)
    x = 0.35 * g.standard_normal((n, SIZE, SIZE))
    r = np.arange(-4, 5)
    a, b = np.meshgrid(r, r, indexing="ij")
    far = np.hypot(a, b)
    stamps = [
        np.abs(far - 3.5) < 0.8, far < 2.8, (a == 0) | (b == 0), np.abs(a) == np.abs(b),
        (a == -4) | (b == -4), np.maximum(np.abs(a), np.abs(b)) == 4,
    ]
    for k in range(n):
        u, v = g.integers(0, SIZE - 9, 2)
        x[k, u:u + 9, v:v + 9] += 1.2 * stamps[y[k]]
    return x, y


def as_dataset(x, y):
    return TensorDataset(torch.tensor(x, dtype=torch.float32).unsqueeze(1), torch.tensor(y))


def collate(rows):
    return {"pixels": torch.stack([r[0] for r in rows]), "labels": torch.stack([r[1] for r in rows])}


class BadgeNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 48, 3, padding=1), nn.ReLU(), nn.AdaptiveMaxPool2d(1), nn.Flatten())
        self.head = nn.Linear(48, classes)

    def forward(self, pixels, labels=None):
        logits = self.head(self.backbone(pixels))
        out = {"logits": logits}
        if labels is not None:
            out = {"loss": nn.functional.cross_entropy(logits, labels), **out}
        return out


class Thaw(TrainerCallback):
    """The head settles first; from `epoch` on, the backbone learns too."""

    def __init__(self, epoch):
        self.epoch = epoch

    def on_epoch_begin(self, args, state, control, model=None, **kwargs):
        if round(state.epoch) == self.epoch:
            for p in model.backbone.parameters():
                p.requires_grad = True
            log.info("epoch %d: backbone thawed", self.epoch)


def accuracy(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


def arguments(name, epochs, lr):
    return TrainingArguments(
        output_dir=f"out/{name}", num_train_epochs=epochs, learning_rate=lr, per_device_train_batch_size=32,
        per_device_eval_batch_size=128, lr_scheduler_type="constant", logging_strategy="epoch", save_strategy="no",
        report_to="none", disable_tqdm=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--thaw_at", type=int, default=2)
    args = parser.parse_args()
    set_seed(2)
    g = np.random.default_rng(2)

    model = BadgeNet(2)
    source = as_dataset(*stripes(400, g))
    Trainer(model=model, args=arguments("enamel_source", 2, args.lr), train_dataset=source, data_collator=collate).train()

    model.head = nn.Linear(48, 6)
    for p in model.backbone.parameters():
        p.requires_grad = False
    trainer = Trainer(
        model=model, args=arguments("enamel", args.epochs, args.lr), train_dataset=as_dataset(*badges(1500, g)),
        eval_dataset=as_dataset(*badges(300, g)), data_collator=collate, compute_metrics=accuracy,
        callbacks=[Thaw(args.thaw_at)])
    trainer.train()
    log.info("badges: %s", trainer.evaluate())


if __name__ == "__main__":
    main()
