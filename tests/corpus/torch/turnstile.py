import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(12)
torch.manual_seed(12)

n = 4000
hour = rng.integers(5, 24, n)
weekend = rng.integers(0, 2, n)
rain = rng.exponential(0.5, n)
station = rng.integers(0, 12, n)
size = rng.normal(0, 0.4, 12)
rush = np.exp(-((hour - 8) / 1.5) ** 2) + np.exp(-((hour - 17.5) / 2.0) ** 2)
rate = np.exp(4.6 + size[station] + 1.2 * rush * (1 - weekend) - 0.3 * rain)
riders = rng.poisson(rate)

dense = np.column_stack([np.sin(hour / 24 * 2 * np.pi), np.cos(hour / 24 * 2 * np.pi),
                         (hour - 14) / 6, weekend, rain - 0.5]).astype(np.float32)
data = TensorDataset(torch.from_numpy(dense), torch.from_numpy(station), torch.from_numpy(riders).float())
train, val = torch.utils.data.random_split(data, [3200, 800])


class RiderModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.station = nn.Embedding(12, 4)
        self.body = nn.Sequential(nn.Linear(9, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1))

    def forward(self, x, s):
        return self.body(torch.cat([x, self.station(s)], 1)).squeeze(1)


model = RiderModel()
loss_fn = nn.PoissonNLLLoss(log_input=True)
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=25)
loader = DataLoader(train, batch_size=64, shuffle=True)
xv, sv, rv = val[:]

for epoch in range(25):
    model.train()
    total = 0.0
    for x, s, r in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(x, s), r)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 50.0)
        optimizer.step()
        total += loss.item()
    scheduler.step()
    model.eval()
    with torch.no_grad():
        guess = model(xv, sv).exp()
    mae = (guess - rv).abs().mean().item()
    base = (rv - rv.mean()).abs().mean().item()
    print(f"epoch {epoch + 1} nll {total / len(loader):.2f} val MAE {mae:.1f} riders (mean guess {base:.1f})")
