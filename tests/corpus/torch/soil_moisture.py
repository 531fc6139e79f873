import argparse
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=20)
parser.add_argument("--lr", type=float, default=5e-3)
parser.add_argument("--batch_size", type=int, default=32)
opt = parser.parse_args()

torch.manual_seed(1)
rng = np.random.default_rng(1)
n = 1000
rain = rng.gamma(2.0, 2.0, n)
temp = rng.normal(15, 6, n)
clay = rng.uniform(0, 1, n)
depth = rng.uniform(0, 2, n)
moisture = 0.8 * rain - 0.15 * temp + 2.5 * clay * depth + rng.normal(0, 0.3, n)

X = np.stack([rain, temp, clay, depth], 1)
X = (X - X.mean(0)) / X.std(0)
y = (moisture - moisture.mean()) / moisture.std()


class Plots(Dataset):
    def __init__(self, X, y):
        self.X, self.y = X.astype("float32"), y.astype("float32")

    def __len__(self):
        return len(self.X)

    def __getitem__(self, i):
        return {"features": self.X[i], "labels": self.y[i]}


class MoistureNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
        self.loss_fn = nn.MSELoss()

    def forward(self, features, labels=None):
        out = self.net(features)
        loss = None
        if labels is not None:
            loss = self.loss_fn(out, labels)
        return {"loss": loss, "logits": out}


def compute_metrics(p):
    pred, true = p.predictions.reshape(-1), p.label_ids.reshape(-1)
    ss = ((true - pred) ** 2).sum() / ((true - true.mean()) ** 2).sum()
    return {"r2": float(1 - ss)}


args = TrainingArguments("soil", num_train_epochs=opt.epochs, per_device_train_batch_size=opt.batch_size,
                         learning_rate=opt.lr, logging_steps=100, save_strategy="no", report_to="none", seed=1)
trainer = Trainer(MoistureNet(), args, train_dataset=Plots(X[:800], y[:800]), eval_dataset=Plots(X[800:], y[800:]),
                  compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
