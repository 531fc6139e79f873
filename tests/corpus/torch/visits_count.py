import tempfile
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from transformers import Trainer, TrainerCallback, TrainingArguments, set_seed


def station_days(n, rng):
    hour = rng.integers(0, 24, n)
    weekday = rng.integers(0, 7, n)
    temp = rng.normal(14, 8, n)
    rain = rng.exponential(0.6, n) * (rng.random(n) < 0.3)
    rate = 1.1 + 0.9 * np.sin((hour - 9) * np.pi / 12) - 0.35 * (weekday >= 5) + 0.04 * temp - 0.8 * rain
    count = rng.poisson(np.exp(np.clip(rate, -3, 4)))
    numeric = np.stack([(temp - 14) / 8, rain - 0.18], 1).astype(np.float32)
    return [
        {"hour": int(h), "weekday": int(w), "numeric": torch.from_numpy(v), "labels": float(c)}
        for h, w, v, c in zip(hour, weekday, numeric, count)
    ]


class CountNet(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.hour = nn.Embedding(24, 8)
        self.weekday = nn.Embedding(7, 4)
        self.mlp = nn.Sequential(nn.Linear(14, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, 1))

    def forward(self, hour, weekday, numeric, labels=None):
        h = torch.cat([self.hour(hour), self.weekday(weekday), numeric], dim=-1)
        log_rate = self.mlp(h).squeeze(-1)
        out = {"logits": log_rate}
        if labels is not None:
            out = {"loss": F.poisson_nll_loss(log_rate, labels), "logits": log_rate}
        return out


@dataclass
class Member:
    seed: int
    width: int


class Brief(TrainerCallback):
    def on_evaluate(self, args, state, control, metrics=None, **kwargs):
        print(f"  epoch {state.epoch:.0f} valid loss {metrics['eval_loss']:.4f}")


def deviance(y, mu):
    return 2 * np.mean(np.where(y > 0, y * np.log(np.maximum(y, 1) / mu), 0.0) - (y - mu))


def train_member(member, train, valid):
    set_seed(member.seed)
    boot = np.random.default_rng(member.seed).integers(0, len(train), len(train))
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(), seed=member.seed, num_train_epochs=4,
        per_device_train_batch_size=32, per_device_eval_batch_size=500,
        learning_rate=2e-5, warmup_ratio=0.05, weight_decay=0.01,
        eval_strategy="epoch", save_strategy="no", logging_strategy="no", report_to=[], disable_tqdm=True,
    )
    trainer = Trainer(
        model=CountNet(member.width), args=args, train_dataset=[train[i] for i in boot],
        eval_dataset=valid, callbacks=[Brief()],
    )
    trainer.train()
    return trainer


def main():
    rng = np.random.default_rng(8)
    train, valid, test = station_days(4000, rng), station_days(500, rng), station_days(1000, rng)
    rates = []
    for member in [Member(1, 32), Member(2, 48), Member(3, 64)]:
        print(member)
        trainer = train_member(member, train, valid)
        rates.append(np.exp(trainer.predict(test).predictions))
    mu = np.mean(rates, axis=0)
    y = np.array([r["labels"] for r in test])
    base = np.mean([r["labels"] for r in train])
    print(f"ensemble deviance {deviance(y, mu):.3f} (constant rate {deviance(y, np.full(len(y), base)):.3f})")
    print(f"ensemble MAE {np.abs(y - mu).mean():.3f} (constant rate {np.abs(y - base).mean():.3f})")


if __name__ == "__main__":
    main()
