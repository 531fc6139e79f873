import math

import numpy as np
import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed

RATE, LENGTH = 4000, 512
BELLS = [220.0, 261.6, 311.1, 370.0, 440.0, 523.3]


class Chimes(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        t = torch.arange(LENGTH) / RATE
        self.labels = torch.randint(len(BELLS), (n,), generator=g)
        pitch = torch.tensor(BELLS)[self.labels] * (1 + 0.02 * torch.randn(n, generator=g))
        phase = 2 * math.pi * torch.rand(n, 1, generator=g)
        tone = torch.sin(2 * math.pi * pitch[:, None] * t + phase) * torch.exp(-6 * t)
        over = 0.5 * torch.sin(2 * math.pi * 2.4 * pitch[:, None] * t) * torch.exp(-12 * t)
        self.wave = tone + over + 0.1 * torch.randn(n, LENGTH, generator=g)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {"waveform": self.wave[i], "labels": self.labels[i]}


class BellNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, 24, 33, stride=4), nn.BatchNorm1d(24), nn.ReLU(),
            nn.Conv1d(24, 32, 9, stride=2), nn.BatchNorm1d(32), nn.ReLU(),
            nn.AdaptiveAvgPool1d(1), nn.Flatten())
        self.classifier = nn.Linear(32, len(BELLS))

    def forward(self, waveform, labels=None):
        logits = self.classifier(self.features(waveform.unsqueeze(1)))
        loss = None if labels is None else nn.functional.cross_entropy(logits, labels)
        return {"loss": loss, "logits": logits}


class Settings:
    peak_lr = 2e-3
    warmup = 30
    epochs = 8
    batch = 32


def make_schedule(optimizer, total_steps):
    def lr_at(step):
        if step < Settings.warmup:
            return Settings.peak_lr * (step + 1) / Settings.warmup
        progress = (step - Settings.warmup) / (total_steps - Settings.warmup)
        return Settings.peak_lr * 0.5 * (1 + math.cos(math.pi * progress))
    return LambdaLR(optimizer, lr_at)


set_seed(21)
train, test = Chimes(960, 1), Chimes(240, 2)
model = BellNet()
optimizer = torch.optim.AdamW(model.parameters(), lr=Settings.peak_lr, weight_decay=0.01)
schedule = make_schedule(optimizer, Settings.epochs * math.ceil(len(train) / Settings.batch))

args = TrainingArguments("chimes_out", num_train_epochs=Settings.epochs, per_device_train_batch_size=Settings.batch,
                         eval_strategy="epoch", save_strategy="no", logging_steps=30, report_to="none")
trainer = Trainer(model, args, train_dataset=train, eval_dataset=test, optimizers=(optimizer, schedule),
                  compute_metrics=lambda p: {"accuracy": float(np.mean(p.predictions.argmax(1) == p.label_ids))})
trainer.train()
print(trainer.evaluate())
