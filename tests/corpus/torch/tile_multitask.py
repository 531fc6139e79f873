"""Denoise tiles, name their pattern and estimate its period: one net, three losses, small micro-batches."""
import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def tiles(n, gen):
    kind = torch.randint(0, 3, (n,), generator=gen)
    period = 3 + 5 * torch.rand(n, generator=gen)
    phase = 2 * math.pi * torch.rand(n, generator=gen)
    r = torch.arange(16.0)
    yy, xx = torch.meshgrid(r, r, indexing="ij")
    coord = torch.stack([xx, yy, (xx + yy) / math.sqrt(2)])[kind]
    clean = torch.sin(2 * math.pi * coord / period[:, None, None] + phase[:, None, None])[:, None]
    noisy = clean + 0.4 * torch.randn(clean.shape, generator=gen)
    return noisy, clean, kind, (period - 5.5) / 2.5


class TileNet(nn.Module):
    def __init__(self, c=16):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(1, c, 3, padding=1), nn.GroupNorm(4, c), nn.SiLU(),
                                 nn.Conv2d(c, c, 3, padding=1), nn.GroupNorm(4, c), nn.SiLU())
        self.down = nn.Sequential(nn.Conv2d(c, 2 * c, 4, stride=4), nn.SiLU(), nn.Flatten(),
                                  nn.Linear(2 * c * 16, 64), nn.SiLU())
        self.clean = nn.Conv2d(c, 1, 5, padding=2)
        self.kind = nn.Linear(64, 3)
        self.period = nn.Linear(64, 1)

    def forward(self, x):
        h = self.enc(x)
        z = self.down(h)
        return self.clean(h), self.kind(z), self.period(z).squeeze(-1)


def losses(out, clean, kind, period):
    return F.mse_loss(out[0], clean), F.cross_entropy(out[1], kind), F.smooth_l1_loss(out[2], period, beta=0.2)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--micro", type=int, default=16)
    ap.add_argument("--accumulate", type=int, default=4)
    ap.add_argument("--updates", type=int, default=500)
    ap.add_argument("--lr", type=float, default=4e-3)
    ap.add_argument("--weights", type=float, nargs=3, default=[1.0, 0.5, 2.0])
    a = ap.parse_args()

    torch.manual_seed(31)
    gen = torch.Generator().manual_seed(31)
    val = tiles(500, gen)
    net = TileNet()
    opt = torch.optim.RAdam(net.parameters(), lr=a.lr)

    def shape(u):
        warm = min(1.0, (u + 1) / 30)
        tri = 1 - abs((u % 125) / 62.5 - 1)
        return warm * (0.2 + 0.8 * tri) * (0.6 ** (u // 125))

    sched = torch.optim.lr_scheduler.LambdaLR(opt, shape)
    for u in range(a.updates):
        net.train()
        for _ in range(a.accumulate):
            x, *target = tiles(a.micro, gen)
            parts = losses(net(x), *target)
            (sum(w * p for w, p in zip(a.weights, parts)) / a.accumulate).backward()
        opt.step()
        opt.zero_grad(set_to_none=True)
        sched.step()
        if (u + 1) % 50 == 0:
            net.eval()
            with torch.no_grad():
                out = net(val[0])
                acc = (out[1].argmax(1) == val[2]).float().mean()
                err = 2.5 * (out[2] - val[3]).abs().mean()
            print(f"{u + 1:4d} lr {sched.get_last_lr()[0]:.5f} mse {F.mse_loss(out[0], val[1]):.3f} "
                  f"acc {acc:.3f} period error {err:.3f}")


if __name__ == "__main__":
    main()
