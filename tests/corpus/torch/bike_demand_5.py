"""Hourly bike rental forecast: a GRU over the last day, trained with the Hugging Face Trainer."""
import os

os.environ["USE_TF"] = "0"

import argparse

import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed

WINDOW = 24


def simulate(hours, seed=0):
    """Counts per hour with daily and weekly rhythm, weather and slowly drifting popularity."""
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    hour, dow = t % 24, (t // 24) % 7
    commute = np.exp(-0.5 * ((hour - 8) / 1.3) ** 2) + 1.2 * np.exp(-0.5 * ((hour - 17.5) / 1.6) ** 2)
    leisure = np.exp(-0.5 * ((hour - 14) / 3.5) ** 2)
    temp = np.zeros(hours)
    rain = np.zeros(hours)
    for i in range(1, hours):
        temp[i] = 0.99 * temp[i - 1] + rng.normal(0, 0.14)
        rain[i] = rng.random() < (0.8 if rain[i - 1] else 0.04)
    level = 120 + 15 * np.sin(2 * np.pi * t / (24 * 45))
    rate = level * np.where(dow < 5, commute + 0.3 * leisure, 1.1 * leisure) * (1 + 0.25 * np.tanh(temp))
    rate = np.maximum(rate * (1 - 0.55 * rain), 2)
    count = rng.poisson(rate).astype(np.float32)
    feats = np.stack([np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24), (dow >= 5) * 1.0, temp, rain], 1)
    return count, feats.astype(np.float32)


class Windows(Dataset):
    """x: scaled counts and covariates of the last day plus the covariates of the hour to predict."""

    def __init__(self, count, feats, start, stop, mean, std):
        self.z = (count - mean) / std
        self.count, self.feats = count, feats
        self.index = np.arange(max(start, WINDOW), stop)

    def __len__(self):
        return len(self.index)

    def __getitem__(self, k):
        i = self.index[k]
        past = np.concatenate([self.z[i - WINDOW:i, None], self.feats[i - WINDOW + 1:i + 1]], axis=1)
        return {"past": torch.from_numpy(past), "labels": torch.tensor(self.z[i])}


class DemandGRU(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.gru = nn.GRU(6, hidden, batch_first=True)
        self.head = nn.Sequential(nn.Linear(hidden + 6, 32), nn.ReLU(), nn.Linear(32, 1))
        self.loss = nn.SmoothL1Loss()

    def forward(self, past, labels=None):
        _, h = self.gru(past)
        out = self.head(torch.cat([h[-1], past[:, -1]], dim=1)).squeeze(-1)
        result = {"logits": out}
        if labels is not None:
            result = {"loss": self.loss(out, labels), **result}
        return result


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=10)
    ap.add_argument("--hours", type=int, default=24 * 120)
    cfg = ap.parse_args()
    set_seed(4)

    count, feats = simulate(cfg.hours)
    a, b = int(0.7 * cfg.hours), int(0.85 * cfg.hours)
    mean, std = count[:a].mean(), count[:a].std()
    train, val, test = (Windows(count, feats, lo, hi, mean, std) for lo, hi in ((0, a), (a, b), (b, cfg.hours)))
    print(f"{len(train)} / {len(val)} / {len(test)} hours")

    def metrics(pred):
        err = (pred.predictions - pred.label_ids) * std
        return {"mae": float(np.abs(err).mean()), "rmse": float(np.sqrt((err ** 2).mean()))}

    args = TrainingArguments(
        output_dir="out/bike", num_train_epochs=cfg.epochs, per_device_train_batch_size=32,
        per_device_eval_batch_size=256, learning_rate=4e-3, lr_scheduler_type="cosine", max_grad_norm=1.0,
        eval_strategy="epoch", save_strategy="epoch", save_total_limit=2, load_best_model_at_end=True,
        metric_for_best_model="mae", logging_strategy="epoch", report_to="none",
        use_cpu=True, disable_tqdm=True, seed=4,
    )
    trainer = Trainer(model=DemandGRU(), args=args, train_dataset=train, eval_dataset=val, compute_metrics=metrics)
    trainer.train()

    print(f"best checkpoint: {trainer.state.best_model_checkpoint}")
    result = trainer.evaluate(test, metric_key_prefix="test")
    yesterday = np.abs(count[test.index] - count[test.index - 24]).mean()
    last_week = np.abs(count[test.index] - count[test.index - 168]).mean()
    print(f"test mae {result['test_mae']:.2f} bikes, rmse {result['test_rmse']:.2f}")
    print(f"naive forecasts: same hour yesterday {yesterday:.2f}, same hour last week {last_week:.2f}")


if __name__ == "__main__":
    main()
