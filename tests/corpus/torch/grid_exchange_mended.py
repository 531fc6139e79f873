"""Hourly net exchange of small villages with the grid (kW; import is positive, export negative), with the Trainer API."""
import logging
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("grid")


@dataclass
class Config:
    n_train: int = 4000
    n_eval: int = 1000
    hidden: int = 96
    lr: float = 3e-3
    epochs: int = 12
    seed: int = 7


def sample_hours(n, seed):
    g = np.random.default_rng(seed)
    hour = g.integers(0, 24, n)
    sun = np.clip(np.sin((hour - 6) / 12 * np.pi), 0, None) * g.beta(4, 2, n)
    temp = g.normal(12, 8, n)
    houses = g.integers(20, 90, n)
    panels = g.uniform(0.0, 6.0, n) * houses            # kWp installed
    wind = g.weibull(2.0, n) * 6
    turbine = g.integers(0, 2, n)
    weekend = g.integers(0, 2, n)

    evening = np.exp(-((hour - 19) ** 2) / 10) + 0.5 * np.exp(-((hour - 7) ** 2) / 5)
    load = houses * (0.5 + 1.1 * evening + 0.06 * np.clip(14 - temp, 0, None) + 0.15 * weekend)
    pv = 0.8 * panels * sun
    wt = turbine * np.clip(0.35 * (wind - 3) ** 2, 0, 110)
    net = load - pv - wt + g.normal(0, 8, n)
    x = np.column_stack([np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24), sun, temp / 10, houses / 50,
                         panels / 150, wind / 6, turbine, weekend])
    return x.astype(np.float32), net.astype(np.float32)


class HourDataset(Dataset):
    def __init__(self, x, y, scale):
        self.x, self.y = torch.from_numpy(x), torch.from_numpy(y / scale)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"features": self.x[i], "labels": self.y[i]}


class ExchangeNet(nn.Module):
    def __init__(self, d_in, hidden):
        super().__init__()
        layers = []
        for a, b in [(d_in, hidden), (hidden, hidden), (hidden, 1)]:
            layers += [nn.Linear(a, b), nn.ReLU()]
        self.net = nn.Sequential(*layers[:-1])

    def forward(self, features, labels=None):
        pred = self.net(features).squeeze(-1)
        out = {"logits": pred}
        if labels is not None:
            out = {"loss": nn.functional.smooth_l1_loss(pred, labels, beta=0.5), **out}
        return out


def build_metrics(scale):
    def compute(p):
        pred, true = p.predictions.reshape(-1) * scale, p.label_ids.reshape(-1) * scale
        err = pred - true
        return {
            "mae_kw": float(np.abs(err).mean()),
            "r2": float(1 - (err ** 2).sum() / ((true - true.mean()) ** 2).sum()),
        }
    return compute


def main():
    cfg = Config()
    set_seed(cfg.seed)
    x, y = sample_hours(cfg.n_train, 1)
    xv, yv = sample_hours(cfg.n_eval, 2)
    xt, yt = sample_hours(cfg.n_eval, 3)
    scale = float(y.std())
    log.info("share of exporting hours %.2f, std %.1f kW", (y < 0).mean(), scale)

    args = TrainingArguments(
        output_dir="out/grid_exchange",
        num_train_epochs=cfg.epochs,
        per_device_train_batch_size=64,
        per_device_eval_batch_size=500,
        learning_rate=cfg.lr,
        lr_scheduler_type="cosine",
        warmup_ratio=0.05,
        weight_decay=1e-4,
        eval_strategy="epoch",
        logging_steps=100,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
        seed=cfg.seed,
    )
    trainer = Trainer(
        model=ExchangeNet(x.shape[1], cfg.hidden),
        args=args,
        train_dataset=HourDataset(x, y, scale),
        eval_dataset=HourDataset(xv, yv, scale),
        compute_metrics=build_metrics(scale),
    )
    trainer.train()

    scores = trainer.evaluate(HourDataset(xt, yt, scale), metric_key_prefix="test")
    log.info("test MAE %.2f kW   R2 %.3f   (predicting the median: MAE %.2f kW)",
             scores["test_mae_kw"], scores["test_r2"], np.abs(yt - np.median(y)).mean())


if __name__ == "__main__":
    main()
