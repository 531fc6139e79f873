import tempfile

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset
from transformers import EarlyStoppingCallback, Trainer, TrainerCallback, TrainingArguments, set_seed

WINDOW, HORIZON = 48, 12

RECIPE = dict(
    learning_rate=1e-3,
    weight_decay=0.01,
    warmup_steps=20,
    lr_scheduler_type="cosine",
    per_device_train_batch_size=32,
    num_train_epochs=8,
    max_grad_norm=1.0,
)


def hourly_load(hours, rng):
    t = np.arange(hours)
    day = np.sin(2 * np.pi * t / 24) + 0.5 * np.sin(4 * np.pi * t / 24 + 0.6)
    week = 0.8 * (np.sin(2 * np.pi * t / 168) > 0.3)
    drift = np.cumsum(rng.normal(scale=0.02, size=hours))
    return day * (1 + 0.4 * week) + week + drift + 0.1 * rng.normal(size=hours)


class Windows(Dataset):
    def __init__(self, series, stride=1):
        self.series = torch.tensor(series, dtype=torch.float32)
        self.starts = range(0, len(series) - WINDOW - HORIZON, stride)

    def __len__(self):
        return len(self.starts)

    def __getitem__(self, i):
        s = self.starts[i]
        return {"history": self.series[s:s + WINDOW],
                "labels": self.series[s + WINDOW:s + WINDOW + HORIZON]}


class ConvForecaster(nn.Module):
    def __init__(self, channels=32):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(1, channels, 5, padding=2), nn.ReLU(),
            nn.Conv1d(channels, channels, 5, padding=2, stride=2), nn.ReLU(),
        )
        self.head = nn.Linear(channels * WINDOW // 2, HORIZON)

    def forward(self, history, labels=None):
        last = history[:, -1:]
        features = self.conv((history - last).unsqueeze(1)).flatten(1)
        forecast = last + self.head(features)
        loss = nn.functional.smooth_l1_loss(forecast, labels)
        return {"loss": loss, "forecast": forecast}


class Progress(TrainerCallback):
    def on_evaluate(self, args, state, control, metrics=None, **kwargs):
        print(f"step {state.global_step:4d}  eval mae {metrics['eval_mae']:.4f}")


def mae(pred):
    return {"mae": float(np.abs(pred.predictions - pred.label_ids).mean())}


def main():
    set_seed(17)
    rng = np.random.default_rng(17)
    series = hourly_load(24 * 7 * 16, rng)
    a, b = int(0.7 * len(series)), int(0.85 * len(series))
    mean, std = series[:a].mean(), series[:a].std()
    series = (series - mean) / std
    train, valid, test = Windows(series[:a], 2), Windows(series[a:b]), Windows(series[b:])

    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(), eval_strategy="epoch", save_strategy="epoch",
        save_total_limit=1, load_best_model_at_end=True, metric_for_best_model="mae",
        greater_is_better=False, per_device_eval_batch_size=128, logging_steps=30,
        disable_tqdm=True, report_to=[], use_cpu=True, seed=17, **RECIPE)
    trainer = Trainer(
        model=ConvForecaster(), args=args, train_dataset=train, eval_dataset=valid,
        compute_metrics=mae, callbacks=[Progress(), EarlyStoppingCallback(early_stopping_patience=3)])
    trainer.train()

    result = trainer.evaluate(test)
    naive = np.mean([(w["labels"] - w["history"][-1]).abs().mean().item() for w in test])
    print(f"test mae {result['eval_mae']:.4f}   last-value forecast {naive:.4f}")


if __name__ == "__main__":
    main()
