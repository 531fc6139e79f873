"""Density of two interlocked arcs by affine coupling layers; the loss may well go below zero."""
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn


@dataclass
class Cfg:
    layers: int = 8
    hidden: int = 48
    batch: int = 256
    steps: int = 2500
    lr: float = 2e-3
    seed: int = 5


def arcs(n, rng):
    th = rng.uniform(0, np.pi, n)
    which = rng.integers(0, 2, n)
    x = np.where(which == 0, np.cos(th), 1 - np.cos(th))
    y = np.where(which == 0, np.sin(th), 0.5 - np.sin(th))
    z = np.stack([x, y], 1) + rng.normal(0, 0.06, (n, 2))
    return ((z - [0.5, 0.25]) * 0.5).astype(np.float32)


class Coupling(nn.Module):
    def __init__(self, hidden, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(1, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 2))
        # identity at the start
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def _st(self, a):
        s, t = self.net(a).chunk(2, 1)
        return 2.0 * torch.tanh(s / 2.0), t

    def forward(self, x):
        a, b = x.chunk(2, 1) if not self.flip else x.chunk(2, 1)[::-1]
        s, t = self._st(a)
        b = b * s.exp() + t
        out = torch.cat([b, a] if self.flip else [a, b], 1)
        return out, s.sum(1)

    def inverse(self, z):
        a, b = z.chunk(2, 1) if not self.flip else z.chunk(2, 1)[::-1]
        s, t = self._st(a)
        b = (b - t) * (-s).exp()
        return torch.cat([b, a] if self.flip else [a, b], 1)


class Flow(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.steps = nn.ModuleList(Coupling(cfg.hidden, i % 2 == 1) for i in range(cfg.layers))
        self.register_buffer("loc", torch.zeros(2))
        self.register_buffer("scale", torch.ones(2))

    def log_prob(self, x):
        total = 0.0
        for s in self.steps:
            x, ld = s(x)
            total = total + ld
        return torch.distributions.Normal(self.loc, self.scale).log_prob(x).sum(1) + total

    @torch.no_grad()
    def sample(self, n):
        z = torch.randn(n, 2)
        for s in reversed(self.steps):
            z = s.inverse(z)
        return z


def main():
    cfg = Cfg()
    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    held = torch.from_numpy(arcs(3000, np.random.default_rng(77)))
    flow = Flow(cfg)
    opt = torch.optim.AdamW(flow.parameters(), lr=cfg.lr, weight_decay=1e-5)
    # polynomial decay, stepped every batch
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda i: max(0.02, (1 - i / cfg.steps) ** 1.5))
    average = torch.optim.swa_utils.AveragedModel(flow, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.995))

    for i in range(cfg.steps):
        x = torch.from_numpy(arcs(cfg.batch, rng))          # fresh points at each step, there is no epoch
        loss = -flow.log_prob(x).mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(flow.parameters(), 10.0)
        opt.step()
        sched.step()
        average.update_parameters(flow)
        if i % 500 == 0 or i == cfg.steps - 1:
            with torch.no_grad():
                nll = -flow.log_prob(held).mean().item()
                nll_avg = -average.module.log_prob(held).mean().item()
            print(f"{i:5d} train {loss.item():+.3f} held-out {nll:+.3f} averaged {nll_avg:+.3f}")

    s = average.module.sample(2000)
    near = torch.cdist(s, held).min(1).values
    print(f"samples within 0.05 of real points: {(near < 0.05).float().mean():.3f}")
    with torch.no_grad():
        z = held[:500]
        for st in average.module.steps:
            z, _ = st(z)
        for st in reversed(average.module.steps):
            z = st.inverse(z)
        print(f"round trip error {(z - held[:500]).abs().max():.2e}")


if __name__ == "__main__":
    main()
