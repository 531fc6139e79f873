"""Claim frequency of an insurance portfolio: Poisson network with exposure, deviance as the score."""
import argparse

import numpy as np
import torch
from torch import nn, optim


def portfolio(n: int, rng: np.random.Generator):
    age = rng.uniform(18, 85, n)
    power = rng.gamma(4, 25, n)
    density = rng.lognormal(5, 1.2, n)
    region = rng.integers(0, 8, n)
    exposure = rng.uniform(0.1, 1.0, n)
    log_rate = -2.4 + 1.2 * np.exp(-(age - 18) / 9) + 0.006 * (power - 100) + 0.25 * (np.log(density) - 5) + 0.35 * np.sin(region)
    claims = rng.poisson(np.exp(log_rate) * exposure)
    num = np.stack([age / 10 - 5, power / 50 - 2, np.log(density) - 5], 1)
    as_t = lambda a, d=torch.float32: torch.tensor(a, dtype=d)
    return as_t(num), as_t(region, torch.long), as_t(exposure), as_t(claims)


class RateNet(nn.Module):
    """Log rate = portfolio mean + correction; the correction starts at exactly zero."""

    def __init__(self, mean_rate: float, emb: int = 3, hidden: int = 32):
        super().__init__()
        self.region = nn.Embedding(8, emb)
        self.hidden = nn.Sequential(nn.Linear(3 + emb, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.out = nn.Linear(hidden, 1)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)
        self.register_buffer("base", torch.tensor(mean_rate).log())

    def forward(self, num, region):
        h = self.hidden(torch.cat([num, self.region(region)], dim=1))
        return self.base + self.out(h).squeeze(1)


def deviance(rate, y, exposure):
    mu = rate * exposure
    term = torch.where(y > 0, y * torch.log(y.clamp_min(1) / mu), torch.zeros_like(y))
    return (2 * (term - (y - mu)).sum() / exposure.sum()).item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--policies", type=int, default=40000)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch", type=int, default=1000)
    a = parser.parse_args()
    torch.manual_seed(17)
    rng = np.random.default_rng(17)
    num, reg, expo, y = portfolio(a.policies, rng)
    vnum, vreg, vexpo, vy = portfolio(a.policies // 4, rng)
    mean_rate = (y.sum() / expo.sum()).item()
    print(f"policies without any claim: {(y == 0).float().mean():.3f}; mean rate {mean_rate:.4f}")
    print(f"deviance of the constant rate: {deviance(torch.full_like(vy, mean_rate), vy, vexpo):.4f}")

    net = RateNet(mean_rate)
    groups = [
        {"params": net.region.parameters(), "lr": 1e-2},
        {"params": list(net.hidden.parameters()) + list(net.out.parameters()), "lr": 3e-3},
    ]
    opt = optim.NAdam(groups)
    sched = optim.lr_scheduler.OneCycleLR(opt, max_lr=[1e-2, 3e-3], total_steps=a.epochs * (a.policies // a.batch))
    nll = nn.PoissonNLLLoss(log_input=True, reduction="sum")
    for epoch in range(a.epochs):
        net.train()
        for rows in torch.randperm(a.policies).view(-1, a.batch):
            opt.zero_grad()
            log_mu = net(num[rows], reg[rows]) + expo[rows].log()
            loss = nll(log_mu, y[rows]) / expo[rows].sum()
            loss.backward()
            opt.step()
            sched.step()
        net.eval()
        with torch.no_grad():
            rate = net(vnum, vreg).exp()
        print(f"epoch {epoch + 1:2d}  batch nll {loss.item():.4f}  deviance {deviance(rate, vy, vexpo):.4f}  "
              f"predicted/observed claims {(rate * vexpo).sum() / vy.sum():.3f}")


if __name__ == "__main__":
    main()
