"""Forecast tomorrow's ploughing hours from the last four weeks."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(3)
torch.manual_seed(3)

days = np.arange(2400)
cold = np.cos(2 * np.pi * days / 365) * 4 + np.cos(2 * np.pi * days / 28) * 2
storm = np.convolve(rng.gamma(0.6, 2.0, len(days)), np.exp(-np.arange(8) / 3), mode="same")
hours = np.maximum(cold, 0) * 1.5 + 0.5 * storm + rng.normal(0, 0.3, len(days))
hours = ((hours - hours[:1900].mean()) / hours[:1900].std()).astype("float32")

window = 28
X = np.stack([hours[i:i + window] for i in range(len(hours) - window)])[:, :, None]
y = hours[window:]
split = 1900 - window
train = TensorDataset(torch.from_numpy(X[:split]), torch.from_numpy(y[:split]))
xv, yv = torch.from_numpy(X[split:]), torch.from_numpy(y[split:])
loader = DataLoader(train, batch_size=64, shuffle=True)


class Forecaster(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        _, h = self.rnn(x)
        return self.out(h[-1]).squeeze(-1)


model = Forecaster()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, mode="min", factor=0.5, patience=2, verbose=True)
criterion = nn.SmoothL1Loss()

for epoch in range(15):
    model.train()
    total = 0.0
    for xb, yb in loader:
        opt.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        opt.step()
        total += loss.item() * len(xb)
    model.eval()
    with torch.no_grad():
        pv = model(xv)
        val = criterion(pv, yv).item()
    sched.step(val)
    r2 = 1 - ((pv - yv) ** 2).sum() / ((yv - yv.mean()) ** 2).sum()
    print(f"epoch {epoch:2d}  train {total / len(train):.4f}  val {val:.4f}  r2 {r2.item():.3f}  lr {opt.param_groups[0]['lr']:.1e}")
