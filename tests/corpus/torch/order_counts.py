"""Hourly order counts for a chain of cafes: zero-inflated negative binomial, one-cycle rate per step."""
import argparse
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def simulate(days, shops, rng):
    hours = days * 24
    t = np.arange(hours)
    popularity = rng.normal(1.2, 0.4, shops)
    peak = rng.uniform(8, 18, shops)
    rows = []
    rain = (rng.random(hours) < 0.2).astype(float)
    for s in range(shops):
        hour, dow = t % 24, (t // 24) % 7
        mu = np.exp(popularity[s] + np.cos((hour - peak[s]) / 24 * 2 * np.pi) * 1.3 + 0.4 * (dow >= 5) - 0.5 * rain)
        y = rng.poisson(mu * rng.gamma(5, 1 / 5, hours))
        y[(hour < 6) | (rng.random(hours) < 0.05)] = 0
        rows.append(np.stack([np.full(hours, s), hour, dow, rain, t / hours, y], 1))
    return np.concatenate(rows).astype(np.float32)


class CountNet(nn.Module):
    """Three heads per row: log mean, dispersion and closed-shop logit; every output is squeezed positive."""

    def __init__(self, shops, dim=8, hidden=64):
        super().__init__()
        self.shop, self.hour, self.dow = nn.Embedding(shops, dim), nn.Embedding(24, dim), nn.Embedding(7, dim)
        self.body = nn.Sequential(nn.Linear(3 * dim + 1, hidden), nn.ReLU(inplace=True),
                                  nn.Linear(hidden, hidden), nn.ReLU(inplace=True))
        self.mean, self.disp, self.closed = nn.Linear(hidden, 1), nn.Linear(hidden, 1), nn.Linear(hidden, 1)

    def forward(self, x):
        ids = x[:, :3].long()
        h = self.body(torch.cat([self.shop(ids[:, 0]), self.hour(ids[:, 1]), self.dow(ids[:, 2]), x[:, 3:4]], 1))
        mu = F.softplus(self.mean(h).squeeze(1) + 4) + 1e-3
        return mu, F.softplus(self.disp(h).squeeze(1)) + 1e-3, self.closed(h).squeeze(1)


def zinb_nll(y, mu, r, logit):
    log_nb = (torch.lgamma(y + r) - torch.lgamma(r) - torch.lgamma(y + 1)
              + r * (r / (r + mu)).log() + y * (mu / (r + mu)).log())
    zero = torch.logaddexp(F.logsigmoid(logit), F.logsigmoid(-logit) + log_nb)
    return -torch.where(y == 0, zero, F.logsigmoid(-logit) + log_nb).mean()


def expected(net, x):
    mu, _, logit = net(x)
    return mu * torch.sigmoid(-logit)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--shops", type=int, default=20)
    ap.add_argument("--epochs", type=int, default=10)
    ap.add_argument("--batch", type=int, default=512)
    ap.add_argument("--max-lr", type=float, default=2e-2)
    args = ap.parse_args()

    torch.manual_seed(2)
    data = torch.from_numpy(simulate(60, args.shops, np.random.default_rng(2)))
    past, future = data[data[:, 4] < 0.8], data[data[:, 4] >= 0.8]      # last 12 days are the test period
    x_tr, y_tr, x_te, y_te = past[:, :4], past[:, 5], future[:, :4], future[:, 5]

    net = CountNet(args.shops)
    opt = torch.optim.Adam(net.parameters(), lr=args.max_lr, betas=(0.9, 0.95), weight_decay=1e-6)
    per_epoch = math.ceil(len(y_tr) / args.batch)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=args.max_lr, epochs=args.epochs,
                                                steps_per_epoch=per_epoch, pct_start=0.2)
    for epoch in range(args.epochs):
        net.train()
        total = 0.0
        for idx in torch.randperm(len(y_tr)).split(args.batch):
            loss = zinb_nll(y_tr[idx], *net(x_tr[idx]))
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_value_(net.parameters(), 1.0)
            opt.step()
            sched.step()
            total += loss.item()
        net.eval()
        with torch.no_grad():
            nll = zinb_nll(y_te, *net(x_te)).item()
        print(f"epoch {epoch + 1:2d}  train nll {total / per_epoch:.3f}  test nll {nll:.3f}  "
              f"lr {sched.get_last_lr()[0]:.2e}")

    with torch.no_grad():
        mae = (expected(net, x_te) - y_te).abs().mean().item()
    table = torch.zeros(args.shops, 24).index_put_((x_tr[:, 0].long(), x_tr[:, 1].long()), y_tr, accumulate=True)
    table /= len(y_tr) / (args.shops * 24)
    seasonal = (table[x_te[:, 0].long(), x_te[:, 1].long()] - y_te).abs().mean().item()
    print(f"test MAE {mae:.3f}   shop-hour table {seasonal:.3f}   global mean {(y_tr.mean() - y_te).abs().mean():.3f}")


if __name__ == "__main__":
    main()
