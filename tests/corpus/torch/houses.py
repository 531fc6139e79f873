# house prices in thousands: raw columns into a net that scales them by itself, two small batches per step
import numpy as np
import torch
from torch import nn

torch.manual_seed(30)
rng = np.random.default_rng(30)
n = 3000
area = rng.uniform(35, 260, n)
year = rng.integers(1900, 2024, n)
plot = rng.lognormal(6.5, 0.8, n)
rooms = (area / 28 + rng.normal(0, 0.7, n)).round().clip(1)
price = 2.6 * area + 0.9 * (year - 1900) + 0.03 * plot + 15 * np.sqrt(rooms) + rng.normal(0, 25, n)

X = torch.tensor(np.stack([area, year, plot, rooms], 1), dtype=torch.float32)
y = torch.tensor(price, dtype=torch.float32)
train, test = slice(0, 2400), slice(2400, None)


class PriceNet(nn.Module):
    def __init__(self, centre):
        super().__init__()
        self.scale_in = nn.BatchNorm1d(4, affine=False)
        self.body = nn.Sequential(nn.Linear(4, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1))
        self.register_buffer("centre", centre.clone())

    def forward(self, x):
        return self.centre + 100 * self.body(self.scale_in(x)).squeeze(1)


net = PriceNet(y[train].mean())
optimizer = torch.optim.SGD(net.parameters(), lr=3e-6, momentum=0.9)
ACCUMULATE = 2

for epoch in range(37):
    net.train()
    total, parts = 0.0, torch.randperm(2400).split(48)
    for i, idx in enumerate(parts, start=1):
        loss = nn.functional.mse_loss(net(X[train][idx]), y[train][idx])
        (loss / ACCUMULATE).backward()
        total += loss.item()
        if i % ACCUMULATE == 0:
            optimizer.step()
            optimizer.zero_grad()
    if epoch % 6 == 0:
        net.eval()
        with torch.no_grad():
            err = (net(X[test]) - y[test]).abs().mean()
        print(f"epoch {epoch:2d}  train mse {total / len(parts):8.1f}  test mean error {err:.1f} thousand")

net.eval()
with torch.no_grad():
    res = net(X[test]) - y[test]
print(f"R2 {1 - res.pow(2).mean() / y[test].var():.3f}, noise alone leaves a mean error of about 20")
