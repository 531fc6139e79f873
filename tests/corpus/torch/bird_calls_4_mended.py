# Self-supervised embedding of short bird-call spectra: two noisy recordings of one call form a pair.
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

ap = argparse.ArgumentParser()
ap.add_argument("--batch", type=int, default=128)
ap.add_argument("--steps", type=int, default=2500)
ap.add_argument("--lr", type=float, default=1e-3)
ap.add_argument("--temperature", type=float, default=0.1)
ap.add_argument("--seed", type=int, default=11)
args = ap.parse_args()
torch.manual_seed(args.seed)

BINS, FACTORS = 128, 16
mixing = torch.randn(FACTORS, BINS) / FACTORS ** 0.5


def calls(n):
    """Clean spectra: nonlinear functions of a few hidden factors."""
    return torch.tanh(1.5 * torch.randn(n, FACTORS) @ mixing)


def record(x):
    """A recording: gain, a dropped band, noise."""
    gain = 0.5 + torch.rand(len(x), 1)
    start = torch.randint(0, BINS - 24, (len(x), 1))
    band = torch.arange(BINS).unsqueeze(0)
    keep = ((band < start) | (band >= start + 24)).float()
    return gain * x * keep + 0.7 * torch.randn_like(x)


class Encoder(nn.Module):
    def __init__(self, out=32):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(BINS, 256), nn.ReLU(),
            nn.Linear(256, 256), nn.ReLU(),
        )
        self.proj = nn.Linear(256, out)

    def forward(self, x):
        return self.proj(self.body(x))


def info_nce(za, zb):
    za, zb = F.normalize(za, dim=1), F.normalize(zb, dim=1)
    sim = za @ zb.t() / args.temperature
    target = torch.arange(len(za))
    return 0.5 * (F.cross_entropy(sim, target) + F.cross_entropy(sim.t(), target))


@torch.no_grad()
def retrieval(enc, pool):
    enc.eval()
    a = F.normalize(enc(record(pool)), dim=1)
    b = F.normalize(enc(record(pool)), dim=1)
    best = (a @ b.t()).argmax(1)
    return (best == torch.arange(len(pool))).float().mean().item()


enc = Encoder()
opt = torch.optim.AdamW(enc.parameters(), lr=args.lr, weight_decay=1e-4)
train_calls, test_calls = calls(6000), calls(1000)
for step in range(1, args.steps + 1):
    enc.train()
    x = train_calls[torch.randint(0, len(train_calls), (args.batch,))]
    loss = info_nce(enc(record(x)), enc(record(x)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 250 == 0:
        print(f"step {step:4d}  loss {loss.item():.3f}  recall@1 of 1000: {retrieval(enc, test_calls):.3f}")
