from dataclasses import dataclass
import math
import torch
from torch import nn


@dataclass
class Plan:
    n: int = 6000
    batch: int = 100
    epochs: int = 30
    lr: float = 3e-3
    accumulate: int = 2


def calibration_data(n, gen):
    raw = torch.rand(n, 3, generator=gen) * 2 - 1
    truth = 0.4 * torch.sin(3 * raw[:, :1]) + 0.3 * raw[:, 1:2] * raw[:, 2:3]
    noise = 0.01 + 0.06 * (raw[:, :1] > 0).float() * raw[:, :1]
    return raw, truth + noise * torch.randn(n, 1, generator=gen)


class MeanAndScale(nn.Module):
    def __init__(self, d=3, h=64):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(d, h), nn.Tanh(), nn.Linear(h, h), nn.Tanh())
        self.mean = nn.Linear(h, 1)
        self.log_var = nn.Linear(h, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.mean(h), self.log_var(h).clamp(-12, 4)


def nll(mean, log_var, target):
    return 0.5 * (log_var + (target - mean) ** 2 * torch.exp(-log_var)).mean()


def main(plan=Plan()):
    torch.manual_seed(1)
    gen = torch.Generator().manual_seed(5)
    X, y = calibration_data(plan.n, gen)
    Xt, yt = calibration_data(1500, gen)
    net = MeanAndScale()
    opt = torch.optim.Adam(net.parameters(), lr=plan.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, plan.epochs)
    opt.zero_grad()
    for epoch in range(plan.epochs):
        total = 0.0
        parts = torch.randperm(plan.n, generator=gen).split(plan.batch)
        for k, b in enumerate(parts, 1):
            loss = nll(*net(X[b]), y[b])
            (loss / plan.accumulate).backward()
            if k % plan.accumulate == 0:
                nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                opt.step()
                opt.zero_grad()
            total += loss.item()
        sched.step()
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1:2d} loss {total / len(parts):.3f}")
    with torch.no_grad():
        m, lv = net(Xt)
    rmse = (m - yt).pow(2).mean().sqrt().item()
    inside = ((yt - m).abs() < 1.96 * torch.exp(0.5 * lv)).float().mean().item()
    base = 0.5 * (math.log(y.var().item()) + 1)
    print(f"test nll {nll(m, lv, yt):.3f} (constant gaussian {base:.3f}) rmse {rmse:.4f} (std {yt.std():.4f})"
          f" coverage {inside:.3f}")


if __name__ == "__main__":
    main()
