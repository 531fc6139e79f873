"""Alarm or normal: a pump's pressure cycle, judged against the mode it runs in."""
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed
from transformers.utils import ModelOutput


@dataclass
class Settings:
    steps: int = 24
    width: int = 48
    heads: int = 4
    layers: int = 2
    rows: int = 2000
    epochs: int = 8
    lr: float = 2e-3
    batch: int = 32
    seed: int = 5


class PumpCycles(Dataset):
    """mode 0 fills (pressure must rise), mode 1 drains (pressure must fall); alarm when it does the opposite."""

    def __init__(self, n, steps, seed):
        g = np.random.default_rng(seed)
        self.mode = g.integers(0, 2, n)
        rising = g.integers(0, 2, n)
        slope = np.where(rising == 1, 1.0, -1.0) * g.uniform(0.6, 1.6, n)
        t = np.linspace(-1, 1, steps)
        wobble = 0.3 * np.sin(6 * t[None] + g.uniform(0, 6.28, (n, 1)))
        self.pressure = slope[:, None] * t[None] + wobble + 0.2 * g.standard_normal((n, steps))
        self.label = (rising == self.mode).astype(int)

    def __len__(self):
        return len(self.label)

    def __getitem__(self, i):
        return {
            "mode": torch.tensor(self.mode[i]),
            "pressure": torch.tensor(self.pressure[i], dtype=torch.float32),
            "labels": torch.tensor(self.label[i]),
        }


@dataclass
class PumpOutput(ModelOutput):
    loss: torch.Tensor | None = None
    logits: torch.Tensor | None = None


class PumpModel(nn.Module):
    def __init__(self, s: Settings):
        super().__init__()
        self.mode = nn.Embedding(2, s.width)
        self.read = nn.Linear(1, s.width)
        self.place = nn.Parameter(0.1 * torch.randn(1, s.steps + 1, s.width))
        layer = nn.TransformerEncoderLayer(
            d_model=s.width, nhead=s.heads, dim_feedforward=2 * s.width, dropout=0.05)
        self.encoder = nn.TransformerEncoder(layer, num_layers=s.layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(s.width)
        self.head = nn.Linear(s.width, 2)

    def forward(self, mode, pressure, labels=None):
        tokens = torch.cat([self.mode(mode).unsqueeze(1), self.read(pressure.unsqueeze(-1))], dim=1)
        hidden = self.encoder(tokens + self.place)
        logits = self.head(self.norm(hidden[:, 0]))
        loss = nn.functional.cross_entropy(logits, labels) if labels is not None else None
        return PumpOutput(loss=loss, logits=logits)


def compute_metrics(pred):
    guess = pred.predictions.argmax(-1)
    hit = guess == pred.label_ids
    return {
        "accuracy": float(hit.mean()),
        "alarms_found": float(hit[pred.label_ids == 1].mean()),
    }


def build_trainer(s: Settings):
    train = PumpCycles(s.rows, s.steps, s.seed)
    valid = PumpCycles(300, s.steps, s.seed + 1)
    args = TrainingArguments(
        output_dir="out/pump_cycles", num_train_epochs=s.epochs, learning_rate=s.lr, warmup_steps=50,
        per_device_train_batch_size=s.batch, per_device_eval_batch_size=64, lr_scheduler_type="cosine",
        eval_strategy="epoch", logging_strategy="epoch", save_strategy="no", max_grad_norm=1.0,
        report_to="none", disable_tqdm=True, seed=s.seed)
    return Trainer(model=PumpModel(s), args=args, train_dataset=train, eval_dataset=valid,
                   compute_metrics=compute_metrics)


def main():
    s = Settings()
    set_seed(s.seed)
    trainer = build_trainer(s)
    print("weights:", sum(p.numel() for p in trainer.model.parameters()))
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
