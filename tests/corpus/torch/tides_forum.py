# next value of a gauge with its own error bar
import math

import torch
from torch import nn

torch.manual_seed(2)
T, W = 6000, 24
t = torch.arange(T, dtype=torch.float32)
level = 0.5 * torch.sin(2 * math.pi * t / 12.4) + 0.25 * torch.sin(2 * math.pi * t / 25.8)
sigma = 0.02 + 0.10 * (torch.sin(2 * math.pi * t / 300) > 0).float()
series = level + sigma * torch.randn(T)

windows = series.unfold(0, W + 1, 1)
x, y = windows[:, :-1], windows[:, -1]
n = 4800
x_tr, y_tr, x_te, y_te = x[:n], y[:n], x[n + W:], y[n + W:]

net = nn.Sequential(nn.Linear(W, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)


def nll(out, target):
    mean, log_var = out[:, 0], out[:, 1]
    return 0.5 * (log_var + (target - mean) ** 2 * torch.exp(-log_var)).mean()


for epoch in range(40):
    perm = torch.randperm(n)
    total = 0.0
    for i in range(0, n, 80):
        b = perm[i:i + 80]
        loss = nll(net(x_tr[b]), y_tr[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(b)
    if epoch % 8 == 7:
        with torch.no_grad():
            out = net(x_te)
        rmse = (out[:, 0] - y_te).pow(2).mean().sqrt()
        naive = (x_te[:, -1] - y_te).pow(2).mean().sqrt()
        inside = ((out[:, 0] - y_te).abs() < 1.96 * torch.exp(0.5 * out[:, 1])).float().mean()
        print(f"{epoch + 1:3d} train nll {total / n:+.3f} test nll {nll(out, y_te):+.3f} "
              f"rmse {rmse:.3f} (naive {naive:.3f}) coverage {inside:.3f}")
print(f"noise floor of the data: {sigma[n + 2 * W:].pow(2).mean().sqrt():.3f}")
