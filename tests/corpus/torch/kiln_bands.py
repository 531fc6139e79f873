"""Kiln temperature with an error band: mean and log-variance heads, Gaussian NLL (goes below zero when it fits),
a warm-up with plain MSE, and a saw-tooth learning rate that restarts on purpose."""
import math

import torch
from torch import nn


class BandNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.mean = nn.Linear(64, 1)
        self.logvar = nn.Linear(64, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.mean(h).squeeze(1), self.logvar(h).squeeze(1).clamp(-8, 4)


def kiln(n):
    x = 2 * torch.rand(n, 3) - 1
    mu = torch.sin(3 * x[:, 0]) + x[:, 1] * x[:, 2]
    sigma = 0.03 + 0.15 * (x[:, 0] + 1) / 2
    return x, mu + sigma * torch.randn(n), sigma


def saw_tooth(step, period=600, floor=0.05):
    return floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * (step % period) / period))


def main():
    torch.manual_seed(40)
    x, y, _ = kiln(6000)
    tx, ty, tsigma = kiln(2000)
    net = BandNet()
    opt = torch.optim.Adam(net.parameters(), lr=4e-3)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, saw_tooth)
    for step in range(9600):
        idx = torch.randint(0, len(x), (128,))
        m, lv = net(x[idx])
        sq = (m - y[idx]) ** 2
        if step < 300:
            loss = sq.mean() + 0.0 * lv.sum()
        else:
            loss = 0.5 * (sq * torch.exp(-lv) + lv).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        if (step + 1) % 600 == 0:
            with torch.no_grad():
                m, lv = net(tx)
                s = torch.exp(0.5 * lv)
                cover = ((m - ty).abs() < 1.96 * s).float().mean().item()
                rmse = ((m - ty) ** 2).mean().sqrt().item()
                corr = torch.corrcoef(torch.stack([s, tsigma]))[0, 1].item()
            print(f"step {step + 1} loss {loss.item():.3f} lr {sched.get_last_lr()[0]:.1e} rmse {rmse:.4f} "
                  f"95% band covers {cover:.3f} corr(sigma) {corr:.2f}")


if __name__ == "__main__":
    main()
