"""Load forecast with uncertainty: mean and log-variance head, Monte-Carlo dropout at test time."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

np.random.seed(17)
torch.manual_seed(17)

hours = np.arange(24 * 220)
load = (0.5 + 0.2 * np.sin(2 * np.pi * hours / 24) + 0.08 * np.sin(2 * np.pi * hours / 168)
        + 0.02 * np.random.randn(len(hours)))
load = load.astype(np.float32)
LAG = 48
windows = np.lib.stride_tricks.sliding_window_view(load, LAG + 1)
X, y = windows[:, :LAG].copy(), windows[:, LAG].copy()
cut = int(0.8 * len(X))
X_tr, y_tr = torch.from_numpy(X[:cut]), torch.from_numpy(y[:cut])
X_te, y_te = torch.from_numpy(X[cut + LAG:]), torch.from_numpy(y[cut + LAG:])


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.l2 = nn.Linear(LAG, 64), nn.Linear(64, 64)
        self.drop = nn.Dropout(0.01)
        self.out = nn.Linear(64, 2)

    def forward(self, x):
        h = self.drop(torch.relu(self.l1(x - 0.5)))
        h = self.drop(torch.relu(self.l2(h)))
        mean, log_var = self.out(h).unbind(-1)
        return mean + 0.5, log_var.clamp(-12, 4)


def nll(mean, log_var, target):
    return 0.5 * (log_var + (target - mean).pow(2) * torch.exp(-log_var)).mean()


model = Forecaster()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
loader = DataLoader(TensorDataset(X_tr, y_tr), batch_size=64, shuffle=True)
for epoch in range(30):
    model.train()
    running = 0.0
    for xb, yb in loader:
        mean, log_var = model(xb)
        loss = nll(mean, log_var, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
    if epoch % 6 == 5:
        print(f"epoch {epoch + 1} loss {running / len(loader):.4f}")

model.train()
with torch.no_grad():
    draws = [model(X_te) for _ in range(50)]
means = torch.stack([m for m, _ in draws])
noise = torch.stack([v.exp() for _, v in draws]).mean(0)
pred, std = means.mean(0), (means.var(0) + noise).sqrt()

rmse = (pred - y_te).pow(2).mean().sqrt().item()
naive = (X_te[:, -24] - y_te).pow(2).mean().sqrt().item()
mean_rmse = (y_tr.mean() - y_te).pow(2).mean().sqrt().item()
cover = ((pred - y_te).abs() < 1.64 * std).float().mean().item()
print(f"rmse {rmse:.4f}  same-hour-yesterday {naive:.4f}  mean {mean_rmse:.4f}")
print(f"coverage of the 90% band {cover:.3f}")
