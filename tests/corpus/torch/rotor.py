import math
import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed

SPEEDS = ["slow", "normal", "fast"]


class Vibration(Dataset):
    """Windows of 40 samples of a rotor's vibration; the class is its speed."""

    def __init__(self, n, seed):
        g = np.random.default_rng(seed)
        self.y = g.integers(0, 3, n)
        freq = np.array([1.5, 3.5, 6.0])[self.y] + g.uniform(-0.4, 0.4, n)
        t = np.linspace(0, 1, 40)
        wave = np.sin(2 * np.pi * (freq[:, None] * t + g.random((n, 1))))
        self.x = (wave + 0.2 * g.normal(size=wave.shape)).astype("float32")

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"signal": torch.from_numpy(self.x[i]), "labels": int(self.y[i])}


class SpeedNet(nn.Module):
    def __init__(self, length=40, width=48, heads=4, layers=2):
        super().__init__()
        self.up = nn.Linear(1, width)
        pos = torch.arange(length)[:, None] * torch.exp(torch.arange(0, width, 2) * (-math.log(1000.0) / width))
        self.register_buffer("pos", torch.stack([pos.sin(), pos.cos()], dim=-1).reshape(length, width))
        block = nn.TransformerEncoderLayer(width, heads, dim_feedforward=2 * width, dropout=0.1, norm_first=True)
        self.encoder = nn.TransformerEncoder(block, layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, 3)

    def forward(self, signal, labels=None):
        h = self.up(signal.unsqueeze(-1)) + self.pos
        h = self.norm(self.encoder(h)).mean(dim=1)
        logits = self.out(h)
        loss = nn.functional.cross_entropy(logits, labels) if labels is not None else None
        return {"loss": loss, "logits": logits}


def accuracy(pred):
    guess = pred.predictions.argmax(-1)
    out = {"accuracy": (guess == pred.label_ids).mean()}
    for k, name in enumerate(SPEEDS):
        out[name] = (guess[pred.label_ids == k] == k).mean()
    return out


if __name__ == "__main__":
    set_seed(5)
    args = TrainingArguments(
        output_dir="out_rotor", num_train_epochs=8, per_device_train_batch_size=64, per_device_eval_batch_size=64,
        learning_rate=1e-3, warmup_steps=20, lr_scheduler_type="cosine", eval_strategy="epoch",
        logging_strategy="epoch", save_strategy="no", report_to="none", disable_tqdm=True)
    trainer = Trainer(SpeedNet(), args, train_dataset=Vibration(2400, 0), eval_dataset=Vibration(400, 1),
                      compute_metrics=accuracy)
    trainer.train()
    print(trainer.evaluate())
