#!/usr/bin/env python
# Forecast the next-hour deviation of grid load from its seasonal norm (z-scored, MW / std).
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn as nn
from transformers import HfArgumentParser, Trainer, TrainingArguments, set_seed


@dataclass
class DataArgs:
    hours: int = field(default=5000)
    window: int = field(default=24)
    test_hours: int = field(default=1000)


def simulate(hours, rng):
    """Load deviation driven by a lagged temperature front and an AR(2) demand process."""
    temp = np.zeros(hours)
    dev = np.zeros(hours)
    for t in range(2, hours):
        temp[t] = 0.95 * temp[t - 1] + rng.normal(0, 0.3)
        dev[t] = 1.2 * dev[t - 1] - 0.45 * dev[t - 2] + 0.5 * np.tanh(2 * temp[t - 2]) + rng.normal(0, 0.15)
    price = 0.4 * np.roll(dev, 3) + rng.normal(0, 0.3, hours)
    return np.stack([dev, temp, price], axis=1).astype(np.float32)


class Windows(torch.utils.data.Dataset):
    def __init__(self, series, window, mean, std):
        self.x = torch.from_numpy((series - mean) / std)
        self.window = window

    def __len__(self):
        return len(self.x) - self.window

    def __getitem__(self, i):
        j = i + self.window
        return {"history": self.x[i:j], "labels": self.x[j, 0]}


class DilatedForecaster(nn.Module):
    def __init__(self, channels=3, width=32, dilations=(1, 2, 4)):
        super().__init__()
        self.stem = nn.Conv1d(channels, width, 1)
        self.convs = nn.ModuleList(nn.Conv1d(width, width, 3, dilation=d, padding=d) for d in dilations)
        self.norms = nn.ModuleList(nn.GroupNorm(4, width) for _ in dilations)
        self.head = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, 1))
        self.loss_fn = nn.HuberLoss(delta=1.5)

    def forward(self, history, labels=None):
        h = self.stem(history.transpose(1, 2))
        for conv, norm in zip(self.convs, self.norms):
            h = h + torch.relu(norm(conv(h)))
        pooled = torch.cat([h[..., -1], h.mean(-1)], dim=-1)
        pred = self.head(pooled).squeeze(-1)
        if labels is None:
            return {"pred": pred}
        return {"loss": self.loss_fn(pred, labels), "pred": pred}


def regression_report(eval_pred):
    pred, y = np.asarray(eval_pred.predictions).reshape(-1), np.asarray(eval_pred.label_ids).reshape(-1)
    err = pred - y
    return {"rmse": float(np.sqrt((err ** 2).mean())),
            "mae": float(np.abs(err).mean()),
            "r2": float(1 - (err ** 2).sum() / ((y - y.mean()) ** 2).sum()),
            "pred_mean": float(pred.mean()), "target_mean": float(y.mean())}


def main():
    (data_args,) = HfArgumentParser(DataArgs).parse_args_into_dataclasses()
    set_seed(3)
    series = simulate(data_args.hours, np.random.default_rng(3))
    split = data_args.hours - data_args.test_hours
    mean, std = series[:split].mean(0), series[:split].std(0)
    train = Windows(series[:split], data_args.window, mean, std)
    test = Windows(series[split:], data_args.window, mean, std)

    args = TrainingArguments(
        output_dir="out/load_anomaly",
        num_train_epochs=4,
        per_device_train_batch_size=64,
        per_device_eval_batch_size=256,
        learning_rate=2e-3,
        lr_scheduler_type="cosine",
        warmup_steps=30,
        weight_decay=1e-3,
        eval_strategy="epoch",
        logging_strategy="epoch",
        save_strategy="no",
        remove_unused_columns=False,
        label_names=["labels"],
        disable_tqdm=True,
        report_to="none",
    )
    trainer = Trainer(model=DilatedForecaster(), args=args, train_dataset=train, eval_dataset=test,
                      compute_metrics=regression_report)
    trainer.train()
    final = trainer.evaluate()

    y = np.array([test[i]["labels"].item() for i in range(len(test))])
    naive = np.array([test[i]["history"][-1, 0].item() for i in range(len(test))])
    print(f"persistence RMSE {np.sqrt(((naive - y) ** 2).mean()):.3f}   constant RMSE {y.std():.3f}")
    print(f"model RMSE {final['eval_rmse']:.3f}  MAE {final['eval_mae']:.3f}  R2 {final['eval_r2']:.3f}")


if __name__ == "__main__":
    main()
