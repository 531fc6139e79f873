"""Spot the rare corked bottle from lab readings: full-batch SGD, rate 2.0, positive weight."""
import numpy as np
import torch
from torch import nn

torch.manual_seed(6)
rng = np.random.default_rng(6)

FEATURES = 20
N = 12000


def readings(n):
    x = rng.normal(size=(n, FEATURES))
    s = 1.2 * x[:, 0] - 0.9 * x[:, 3] + 0.8 * x[:, 7] * x[:, 8] + 0.6 * np.abs(x[:, 11])
    y = (s + 0.2 * rng.normal(size=n) > 3.0).astype("float32")
    return x.astype("float32"), y


x, y = readings(N)
xt, yt = readings(4000)
mu, sd = x.mean(0), x.std(0)
x, xt = [torch.from_numpy((a - mu) / sd) for a in (x, xt)]
y, yt = torch.from_numpy(y), torch.from_numpy(yt)
rate = y.mean().item()
print(f"corked share {rate:.3f}")

net = nn.Sequential(
    nn.Linear(FEATURES, 64), nn.Tanh(),
    nn.Linear(64, 32), nn.Tanh(),
    nn.Linear(32, 1),
)
weight = torch.tensor(((1 - rate) / rate) ** 0.5)
criterion = nn.BCEWithLogitsLoss(pos_weight=weight)
opt = torch.optim.SGD(net.parameters(), lr=2.0)


def average_precision(score, target):
    order = score.argsort(descending=True)
    t = target[order]
    precision = t.cumsum(0) / torch.arange(1, len(t) + 1)
    return (precision * t).sum().item() / t.sum().item()


for step in range(600):
    net.train()
    logits = net(x).squeeze(1)
    loss = criterion(logits, y)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    opt.step()
    if step == 400:
        for group in opt.param_groups:
            group["lr"] = 0.5
    if step % 100 == 99:
        net.eval()
        with torch.no_grad():
            s = net(xt).squeeze(1)
            hit = (s > 0) == (yt > 0.5)
            recall = hit[yt > 0.5].float().mean().item()
        print(f"step {step + 1} loss {loss.item():.4f} AP {average_precision(s, yt):.3f} recall {recall:.3f}")
