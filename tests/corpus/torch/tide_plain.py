"""One-step forecast of a noisy two-period series with a GRU."""
import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(2)
torch.manual_seed(2)
t = np.arange(2600)
level = 3.0 + 1.2 * np.sin(2 * np.pi * t / 25) + 0.6 * np.sin(2 * np.pi * t / 61) + rng.normal(0, 0.1, len(t))
mean, std = level[:2000].mean(), level[:2000].std()
z = torch.tensor((level - mean) / std, dtype=torch.float32)

LOOKBACK = 40
windows = z.unfold(0, LOOKBACK + 1, 1)
X, y = windows[:, :-1].unsqueeze(-1), windows[:, -1:]
split = 2000 - LOOKBACK
Xtr, ytr, Xte, yte = X[:split], y[:split], X[split:], y[split:]


class Forecaster(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        _, h = self.gru(x)
        return self.out(h[-1])


net = Forecaster()
optim = torch.optim.Adam(net.parameters(), lr=5e-3)
mse = nn.MSELoss()
for epoch in range(15):
    net.train()
    order = torch.randperm(len(Xtr))
    tot = 0.0
    for idx in order.split(64):
        optim.zero_grad()
        loss = mse(net(Xtr[idx]), ytr[idx])
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optim.step()
        tot += loss.item() * len(idx)
    net.eval()
    with torch.no_grad():
        pred = net(Xte)
        rmse = ((pred - yte) ** 2).mean().sqrt().item() * std
        naive = ((Xte[:, -1] - yte) ** 2).mean().sqrt().item() * std
    print(f"epoch {epoch + 1:2d}  train mse {tot / len(Xtr):.4f}  test rmse {rmse:.3f} m (persistence {naive:.3f} m)")
