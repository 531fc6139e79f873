"""Multi-task regression on a sparse assay panel: masked losses, learned task weights."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

ASSAYS = ["solubility", "permeability", "clearance", "binding"]
UNIT = np.array([1.0, 30.0, 0.1, 5.0], dtype=np.float32)
OBSERVED = [0.9, 0.5, 0.35, 0.2]
ACCUM = 4
torch.manual_seed(81)


def panel(n=3000, bits=96, seed=81):
    rng = np.random.default_rng(seed)
    x = (rng.random((n, bits)) < rng.uniform(0.1, 0.5, bits)).astype(np.float32)
    latent = np.tanh(x @ rng.normal(0, 0.35, (bits, 6)) - 0.3)
    inter = latent[:, :3] * latent[:, 3:]
    y = np.concatenate([latent, inter], 1) @ rng.normal(0, 0.7, (9, len(ASSAYS)))
    y = (y + rng.normal(0, [0.2, 0.3, 0.3, 0.25], y.shape)) * UNIT
    seen = rng.random(y.shape) < OBSERVED
    y[~seen] = np.nan
    return torch.from_numpy(x), torch.from_numpy(y.astype(np.float32))


class Panel(nn.Module):
    def __init__(self, d_in, d=96):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(d_in, d), nn.GELU(), nn.Dropout(0.3), nn.Linear(d, d), nn.GELU())
        self.heads = nn.ModuleList(nn.Linear(d, 1) for _ in ASSAYS)
        self.log_var = nn.Parameter(torch.zeros(len(ASSAYS)))

    def forward(self, x):
        h = self.trunk(x)
        return torch.cat([head(h) for head in self.heads], 1)

    def objective(self, pred, y):
        seen = ~torch.isnan(y)
        err = torch.where(seen, pred - torch.nan_to_num(y), 0.0).square()
        per_task = err.sum(0) / seen.sum(0).clamp(min=1)
        present = seen.any(0).float()
        # gaussian likelihood: falls below zero once the noise of a task is well under one
        return ((per_task * torch.exp(-self.log_var) + self.log_var) * present).sum(), per_task.detach()


def r2(pred, y):
    scores = []
    for k in range(y.shape[1]):
        m = ~torch.isnan(y[:, k])
        res = (pred[m, k] - y[m, k]).square().sum()
        scores.append((1 - res / (y[m, k] - y[m, k].mean()).square().sum()).item())
    return scores


def nanstd(y, mean):
    return torch.nanmean((y - mean) ** 2, 0).sqrt()


x, y = panel()
x_tr, y_tr, x_te, y_te = x[:2400], y[:2400], x[2400:], y[2400:]
mean = torch.nanmean(y_tr, 0)
std = nanstd(y_tr, mean)
z_tr = (y_tr - mean) / std
loader = DataLoader(TensorDataset(x_tr, z_tr), batch_size=16, shuffle=True)

model = Panel(x.shape[1])
decay = [p for n, p in model.named_parameters() if p.ndim > 1]
plain = [p for n, p in model.named_parameters() if p.ndim <= 1 and n != "log_var"]
optimizer = torch.optim.AdamW([
    {"params": decay, "weight_decay": 0.05},
    {"params": plain, "weight_decay": 0.0},
    {"params": [model.log_var], "weight_decay": 0.0, "lr": 1e-2},
], lr=2e-3)

for epoch in range(14):
    model.train()
    total = 0.0
    optimizer.zero_grad()
    for i, (bx, by) in enumerate(loader, 1):
        loss, _ = model.objective(model(bx), by)
        (loss / ACCUM).backward()
        total += loss.item()
        if i % ACCUM == 0 or i == len(loader):
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            optimizer.zero_grad()
    if epoch % 3 == 0 or epoch == 13:
        noise = ", ".join(f"{v:.2f}" for v in torch.exp(0.5 * model.log_var).tolist())
        print(f"epoch {epoch:2d}  objective {total / len(loader):+.3f}  task noise [{noise}]")

model.eval()
with torch.no_grad():
    pred = model(x_te) * std + mean
for name, score, n in zip(ASSAYS, r2(pred, y_te), (~torch.isnan(y_te)).sum(0).tolist()):
    print(f"{name:13s} held-out R2 {score:.3f}  ({n} measured; predicting the mean: 0.000)")
