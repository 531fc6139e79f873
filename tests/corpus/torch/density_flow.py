"""RealNVP-style flow for two-dimensional sensor readings (two-moons shaped)."""
import argparse

import numpy as np
import torch
from sklearn.datasets import make_moons
from torch import nn


class ActNorm(nn.Module):
    """Scale and shift that are set from the first batch, then learned."""

    def __init__(self, dim):
        super().__init__()
        self.log_scale = nn.Parameter(torch.zeros(dim))
        self.bias = nn.Parameter(torch.zeros(dim))
        self.register_buffer("ready", torch.tensor(False))

    def forward(self, x):
        if self.training and not self.ready:
            with torch.no_grad():
                self.bias.copy_(-x.mean(0))
                self.log_scale.copy_(-torch.log(x.std(0) + 1e-6))
                self.ready.fill_(True)
        return (x + self.bias) * self.log_scale.exp(), self.log_scale.sum().expand(len(x))


class Coupling(nn.Module):
    def __init__(self, dim, hidden, keep):
        super().__init__()
        mask = torch.zeros(dim)
        mask[keep] = 1.0
        self.register_buffer("mask", mask)
        self.net = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(),
                                 nn.Linear(hidden, hidden), nn.ReLU(),
                                 nn.Linear(hidden, 2 * dim))
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x):
        kept = x * self.mask
        log_s, shift = self.net(kept).chunk(2, dim=1)
        log_s = torch.tanh(log_s) * (1 - self.mask)
        z = kept + (1 - self.mask) * (x * log_s.exp() + shift)
        return z, log_s.sum(1)

    def inverse(self, z):
        kept = z * self.mask
        log_s, shift = self.net(kept).chunk(2, dim=1)
        log_s = torch.tanh(log_s) * (1 - self.mask)
        return kept + (1 - self.mask) * (z - shift) * (-log_s).exp()


class Flow(nn.Module):
    def __init__(self, dim=2, hidden=48, depth=8):
        super().__init__()
        layers = []
        for i in range(depth):
            layers += [ActNorm(dim), Coupling(dim, hidden, keep=i % dim)]
        self.layers = nn.ModuleList(layers)
        self.register_buffer("prior_mean", torch.zeros(dim))
        self.register_buffer("prior_std", torch.ones(dim))

    def log_prob(self, x):
        logdet = 0.0
        for layer in self.layers:
            x, ld = layer(x)
            logdet = logdet + ld
        prior = torch.distributions.Normal(self.prior_mean, self.prior_std)
        return prior.log_prob(x).sum(1) + logdet

    @torch.no_grad()
    def sample(self, n):
        z = self.prior_mean + self.prior_std * torch.randn(n, len(self.prior_mean))
        for layer in reversed(self.layers):
            if isinstance(layer, Coupling):
                z = layer.inverse(z)
            else:
                z = z * (-layer.log_scale).exp() - layer.bias
        return z


def load(n, seed):
    points, _ = make_moons(n, noise=0.05, random_state=seed)
    return torch.tensor(points * [0.12, 0.15], dtype=torch.float32)   # readings in volts


def main(args):
    torch.manual_seed(args.seed)
    train, test = load(4000, 1), load(1000, 2)
    flow = Flow()
    opt = torch.optim.Adamax(flow.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=args.steps)
    for step in range(1, args.steps + 1):
        batch = train[torch.randint(len(train), (args.batch,))]
        nll = -flow.log_prob(batch).mean()
        opt.zero_grad(set_to_none=True)
        nll.backward()
        nn.utils.clip_grad_norm_(flow.parameters(), 5.0)
        opt.step()
        sched.step()
        if step % 200 == 0:
            print(f"step {step} nll {nll.item():.3f}")

    flow.eval()
    with torch.no_grad():
        test_nll = -flow.log_prob(test).mean().item()
    gauss = torch.distributions.MultivariateNormal(train.mean(0), torch.from_numpy(
        np.cov(train.numpy().T).astype(np.float32)))
    print(f"gaussian test nll {-gauss.log_prob(test).mean().item():.3f}")
    print(f"flow test nll {test_nll:.3f}")
    drawn = flow.sample(1000)
    print("mean distance of samples to nearest reading:",
          round(torch.cdist(drawn, train).min(1).values.mean().item(), 4))


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=800)
    ap.add_argument("--batch", type=int, default=256)
    ap.add_argument("--lr", type=float, default=4e-3)
    ap.add_argument("--seed", type=int, default=0)
    main(ap.parse_args())
