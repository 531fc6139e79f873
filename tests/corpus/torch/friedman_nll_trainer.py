"""Heteroscedastic regression: a plain nn.Module inside the HF Trainer, own optimizer and schedule."""
import tempfile

import numpy as np
import torch
from sklearn.datasets import make_friedman1
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed

set_seed(6)
X, f = make_friedman1(3000, n_features=8, noise=0.0, random_state=6)
f = (f - f.mean()) / f.std()
noise = 0.02 + 0.15 * X[:, 5]
y = f + noise * np.random.default_rng(6).normal(size=len(f))


class Rows(Dataset):
    def __init__(self, lo, hi):
        self.x = torch.tensor(X[lo:hi], dtype=torch.float32)
        self.t = torch.tensor(y[lo:hi], dtype=torch.float32)

    def __len__(self):
        return len(self.t)

    def __getitem__(self, i):
        return self.x[i], self.t[i]


class GaussianNet(nn.Module):
    def __init__(self, n_in=8, width=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.mean = nn.Linear(width, 1)
        self.log_var = nn.Linear(width, 1)

    def forward(self, features, labels=None):
        h = self.body(2 * features - 1)
        mean = self.mean(h).squeeze(-1)
        log_var = self.log_var(h).squeeze(-1).clamp(-9, 4)
        out = {"prediction": torch.stack([mean, log_var], dim=-1)}
        if labels is not None:
            nll = 0.5 * (log_var + (labels - mean) ** 2 * torch.exp(-log_var)).mean()
            out = {"loss": nll, **out}
        return out


def collate(batch):
    xs, ts = zip(*batch)
    return {"features": torch.stack(xs), "labels": torch.stack(ts)}


def metrics(p):
    mean, log_var = p.predictions[:, 0], p.predictions[:, 1]
    z = np.abs(p.label_ids - mean) / np.exp(0.5 * log_var)
    r2 = 1 - ((p.label_ids - mean) ** 2).sum() / ((p.label_ids - p.label_ids.mean()) ** 2).sum()
    return {"r2": float(r2), "cover95": float((z < 1.96).mean())}


net = GaussianNet()
args = TrainingArguments(
    tempfile.mkdtemp(), num_train_epochs=40, per_device_train_batch_size=64, per_device_eval_batch_size=500,
    max_grad_norm=1.0, remove_unused_columns=False, label_names=["labels"], logging_steps=200,
    eval_strategy="steps", eval_steps=400, save_strategy="no", report_to="none", disable_tqdm=True, use_cpu=True,
)
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
total = args.num_train_epochs * (2400 // 64 + 1)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=6e-3, total_steps=int(total) + 1)
trainer = Trainer(model=net, args=args, train_dataset=Rows(0, 2400), eval_dataset=Rows(2400, 3000),
                  data_collator=collate, compute_metrics=metrics, optimizers=(opt, sched))
trainer.train()
print(trainer.evaluate())
