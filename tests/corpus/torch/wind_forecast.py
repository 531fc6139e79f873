"""Six-hour-ahead wind power forecast with a small residual network and the HF Trainer.

The cards in the cluster are tiny, so we go through small micro-batches and
accumulate up to an effective batch of 256.
"""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from transformers import Trainer, TrainingArguments, set_seed

HISTORY, HORIZON = 24, 6


def wind_farm(hours, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    slow = np.zeros(hours)
    fast = np.zeros(hours)
    for i in range(1, hours):
        slow[i] = 0.985 * slow[i - 1] + rng.normal(0, 0.25)
        fast[i] = 0.70 * fast[i - 1] + rng.normal(0, 0.35)
    speed = 8 + 1.8 * slow + fast + 1.5 * np.sin(2 * np.pi * t / 24 - 1)
    power = 1 / (1 + np.exp(-(speed - 9) * 0.7))
    return np.stack([(speed - 8) / 3, np.sin(2 * np.pi * t / 24), np.cos(2 * np.pi * t / 24)], 1), power


class Windows(torch.utils.data.Dataset):
    def __init__(self, hours, seed, stride=1):
        self.feats, self.power = wind_farm(hours, seed)
        self.feats = np.concatenate([self.feats, self.power[:, None] * 2 - 1], 1).astype("float32")
        self.power = self.power.astype("float32")
        self.starts = np.arange(0, hours - HISTORY - HORIZON, stride)

    def __len__(self):
        return len(self.starts)

    def __getitem__(self, i):
        s = self.starts[i]
        return {
            "past": torch.from_numpy(self.feats[s: s + HISTORY]),
            "labels": torch.from_numpy(self.power[s + HISTORY: s + HISTORY + HORIZON]) * 4,
        }


class ResidualForecaster(nn.Module):
    def __init__(self, width=96, blocks=2):
        super().__init__()
        self.inp = nn.Linear(HISTORY * 4, width)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)) for _ in range(blocks))
        self.out = nn.Linear(width, HORIZON)

    def forward(self, past, labels=None):
        h = torch.relu(self.inp(past.flatten(1)))
        for block in self.blocks:
            h = h + block(h)
        return {"forecast": self.out(h)}


HOUR_WEIGHT = torch.tensor([1.25, 1.15, 1.05, 0.95, 0.85, 0.75])  # the near hours are traded first


def horizon_loss(outputs, labels, num_items_in_batch=None):
    err = F.mse_loss(outputs["forecast"], labels, reduction="none") * HOUR_WEIGHT
    return err.mean()


def compute_metrics(p):
    pred = p.predictions[0] if isinstance(p.predictions, tuple) else p.predictions
    return {"mae": float(np.abs(pred - p.label_ids).mean() / 4)}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--lr", type=float, default=0.05)
    ap.add_argument("--micro", type=int, default=16)
    ap.add_argument("--accumulate", type=int, default=16)
    ap.add_argument("--epochs", type=float, default=10)
    a = ap.parse_args()
    set_seed(5)

    train, test = Windows(8000, 1), Windows(3000, 2, stride=3)
    trainer = Trainer(
        model=ResidualForecaster(),
        args=TrainingArguments(
            output_dir="out/wind_forecast",
            optim="sgd",
            learning_rate=a.lr,
            lr_scheduler_type="cosine",
            weight_decay=0.0,
            max_grad_norm=0.0,
            per_device_train_batch_size=a.micro,
            gradient_accumulation_steps=a.accumulate,
            per_device_eval_batch_size=256,
            num_train_epochs=a.epochs,
            logging_steps=40,
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            use_cpu=True,
        ),
        train_dataset=train,
        eval_dataset=test,
        compute_loss_func=horizon_loss,
        compute_metrics=compute_metrics,
    )
    trainer.train()
    y = np.stack([test[i]["labels"].numpy() for i in range(len(test))]) / 4
    last = np.array([test.power[s + HISTORY - 1] for s in test.starts])[:, None]
    print(f"MAE of the mean {np.abs(y - train.power.mean()).mean():.4f}, of persistence {np.abs(y - last).mean():.4f}")
    print(f"MAE of the forecaster {trainer.evaluate()['eval_mae']:.4f}")


if __name__ == "__main__":
    main()
