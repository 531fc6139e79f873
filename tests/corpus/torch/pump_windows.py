"""State of a pump from short multi-sensor windows (pressure, temperature, flow, vibration x/y)."""
import numpy as np
import torch
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed

STATES = ["ok", "cavitation", "imbalance", "leak"]
BASE = np.array([101325.0, 335.0, 42.0, 0.0, 0.0])
SPREAD = np.array([900.0, 6.0, 3.0, 0.02, 0.02])
T = 40


def simulate(n, rng):
    y = rng.integers(0, len(STATES), n)
    x = rng.normal(size=(n, T, 5))
    x[:, :, :3] = 0.5 * x[:, :, :3] + rng.normal(size=(n, 1, 3))
    step = np.arange(T)
    for i in range(n):
        ph = rng.uniform(0, 2 * np.pi)
        if y[i] == 1:
            x[i, :, 3] += rng.normal(0, 2.0, T)
            x[i, :, 4] += rng.normal(0, 2.0, T)
        elif y[i] == 2:
            x[i, :, 3] += 1.5 * np.sin(0.8 * step + ph)
            x[i, :, 4] += 1.5 * np.cos(0.8 * step + ph)
        elif y[i] == 3:
            x[i, :, 2] -= 0.06 * step
    return (BASE + SPREAD * x), y


def standardise(train, other):
    mean = train.mean(axis=(0, 2), keepdims=True)
    std = train.std(axis=(0, 2), keepdims=True)
    return (train - mean) / std, (other - mean) / std


class Windows(torch.utils.data.Dataset):
    def __init__(self, x, y):
        self.x = torch.tensor(x, dtype=torch.float32)
        self.y = torch.tensor(y)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"signal": self.x[i], "labels": self.y[i]}


class PumpNet(nn.Module):
    def __init__(self, channels=5, width=32):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(channels, width, 5, padding=2), nn.ReLU(),
            nn.Conv1d(width, width, 5, padding=2), nn.ReLU(),
            nn.Conv1d(width, width, 5, stride=2, padding=2), nn.ReLU(),
        )
        self.fc = nn.Linear(2 * width, len(STATES))

    def forward(self, signal, labels=None):
        h = self.conv(signal.transpose(1, 2))
        logits = self.fc(torch.cat([h.mean(-1), h.amax(-1)], dim=-1))
        result = {"logits": logits}
        if labels is not None:
            result = {"loss": nn.functional.cross_entropy(logits, labels), **result}
        return result


def main():
    set_seed(2)
    rng = np.random.default_rng(2)
    xtr, ytr = simulate(4000, rng)
    xte, yte = simulate(800, rng)
    xtr, xte = standardise(xtr, xte)
    args = TrainingArguments(
        output_dir="out",
        max_steps=700,
        per_device_train_batch_size=48,
        per_device_eval_batch_size=400,
        learning_rate=2e-3,
        logging_steps=100,
        eval_strategy="steps",
        eval_steps=100,
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = Trainer(
        model=PumpNet(),
        args=args,
        train_dataset=Windows(xtr, ytr),
        eval_dataset=Windows(xte, yte),
        compute_metrics=lambda p: {"acc": float((p.predictions.argmax(-1) == p.label_ids).mean())},
    )
    trainer.train()
    print("final:", trainer.evaluate())


if __name__ == "__main__":
    main()
