"""Pessimistic delivery-time estimate (80th percentile) for courier orders."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(11)
torch.manual_seed(11)
TAU = 0.8


def make_orders(n):
    distance = rng.gamma(2.0, 2.5, n)
    items = rng.integers(1, 12, n)
    hour = rng.uniform(8, 23, n)
    rain = rng.binomial(1, 0.25, n)
    rush = np.exp(-((hour - 18.5) ** 2) / 3.0)
    base = 9 + 3.2 * distance + 0.9 * items + 14 * rush + 6 * rain * rush
    minutes = base + rng.gamma(2.0, 1.0 + 0.35 * distance, n)
    X = np.stack([distance, items, hour, rain], 1).astype(np.float32)
    return X, minutes.astype(np.float32)


X, y = make_orders(6000)
n_train = 4800
mu, sd = X[:n_train].mean(0), X[:n_train].std(0)
X = (X - mu) / sd
y_mu, y_sd = y[:n_train].mean(), y[:n_train].std()
y_scaled = (y - y_mu) / y_sd

train_ds = TensorDataset(torch.from_numpy(X[:n_train]), torch.from_numpy(y_scaled[:n_train]))
train_dl = DataLoader(train_ds, batch_size=128, shuffle=True)


class QuantileNet(nn.Module):
    def __init__(self, n_in, width=48):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(n_in, width), nn.SiLU(),
            nn.Linear(width, width), nn.SiLU(),
        )
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        return self.out(self.body(x))


def pinball(pred, target, tau):
    diff = target - pred
    return torch.maximum(tau * diff, (tau - 1) * diff).mean()


net = QuantileNet(X.shape[1])
opt = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=1e-4)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=30)

for epoch in range(30):
    net.train()
    total, seen = 0.0, 0
    for xb, yb in train_dl:
        q = net(xb).squeeze(1)
        loss = pinball(q, yb, TAU)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(xb)
        seen += len(xb)
    sched.step()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1:2d}  pinball {total / seen:.4f}")

net.eval()
with torch.no_grad():
    q_test = net(torch.from_numpy(X[n_train:])).numpy().ravel() * y_sd + y_mu
y_test = y[n_train:]


def pinball_np(q, t):
    d = t - q
    return float(np.maximum(TAU * d, (TAU - 1) * d).mean())


const = np.full_like(y_test, np.quantile(y[:n_train], TAU))
print(f"test pinball (minutes)     {pinball_np(q_test, y_test):.3f}")
print(f"constant quantile baseline {pinball_np(const, y_test):.3f}")
print(f"coverage {float((y_test <= q_test).mean()):.3f} (wanted {TAU})")
