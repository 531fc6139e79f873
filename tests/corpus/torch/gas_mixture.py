"""Sensor array -> gas class, amounts, and input reconstruction, one net, three losses with learned weights."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(14)
SENS, GASES = 16, 4
A = torch.rand(GASES, SENS) + 0.1


def measure(n):
    c = torch.rand(n, GASES) * 2
    raw = torch.log1p(c @ A) + 0.02 * torch.randn(n, SENS)
    return raw, c, c.argmax(1)


class GasNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(SENS, 96), nn.GELU(), nn.Linear(96, 96), nn.GELU())
        self.kind, self.amount, self.back = nn.Linear(96, GASES), nn.Linear(96, GASES), nn.Linear(96, SENS)
        self.log_var = nn.Parameter(torch.zeros(3))

    def forward(self, x):
        h = self.trunk((x - 1.3) / 0.3)
        return self.kind(h), self.amount(h), self.back(h)


net = GasNet()
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
warm = torch.optim.lr_scheduler.LinearLR(opt, 0.1, 1.0, total_iters=100)
cool = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 3900)
sched = torch.optim.lr_scheduler.SequentialLR(opt, [warm, cool], milestones=[100])
xv, cv, kv = measure(2000)
for step in range(4000):
    x, c, k = measure(128)
    lk, la, lb = net(x)
    losses = torch.stack([F.cross_entropy(lk, k), F.mse_loss(la, c), F.mse_loss(lb, x)])
    total = (torch.exp(-net.log_var) * losses + 0.5 * net.log_var).sum()
    opt.zero_grad()
    total.backward()
    opt.step()
    sched.step()
    if step % 400 == 0 or step == 3999:
        with torch.no_grad():
            pk, pa, pb = net(xv)
        print(f"{step} total {total.item():+.3f} acc {(pk.argmax(1) == kv).float().mean():.3f} "
              f"amount_rmse {F.mse_loss(pa, cv).sqrt():.3f} back {F.mse_loss(pb, xv):.5f}")
