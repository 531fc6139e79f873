"""Discrete codec for audio spectrum frames: encoder -> 4 small codebooks -> decoder."""
import argparse
import os

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

BINS = 48


def make_frames(n, seed):
    """Log spectra of harmonic tones: pitch, tilt and two resonances vary independently."""
    rng = np.random.default_rng(seed)
    f = np.arange(BINS)[None, :]
    pitch = rng.uniform(3, 9, (n, 1))
    comb = 0.6 * np.cos(2 * np.pi * f / pitch)
    tilt = -rng.uniform(0, 0.05, (n, 1)) * f
    r1 = rng.uniform(4, 20, (n, 1))
    r2 = rng.uniform(22, 44, (n, 1))
    env = 1.5 * np.exp(-0.5 * ((f - r1) / 3) ** 2) + 1.2 * np.exp(-0.5 * ((f - r2) / 3) ** 2)
    x = comb + tilt + env + rng.normal(0, 0.05, (n, BINS))
    return torch.tensor(x, dtype=torch.float32)


class GroupedVQ(nn.Module):
    """Product quantiser: the code vector is cut in groups, each with its own codebook."""

    def __init__(self, groups=4, entries=32, dim=4, commitment=0.25):
        super().__init__()
        self.groups, self.dim, self.commitment = groups, dim, commitment
        self.codebook = nn.Parameter(torch.randn(groups, entries, dim) * 0.5)

    def forward(self, z):
        z = z.view(-1, self.groups, self.dim)
        dist = (z.detach()[:, :, None, :] - self.codebook[None]).pow(2).sum(-1)
        codes = dist.argmin(-1)
        q = torch.stack([self.codebook[g][codes[:, g]] for g in range(self.groups)], dim=1)
        loss = F.mse_loss(q, z.detach()) + self.commitment * F.mse_loss(z, q.detach())
        q = z + (q - z).detach()
        return q.flatten(1), codes, loss

    def lookup(self, codes):
        return torch.cat([self.codebook[g][codes[:, g]] for g in range(self.groups)], dim=1)

    @torch.no_grad()
    def restart_unused(self, z, counts):
        """Move entries nobody uses to random encoder outputs."""
        z = z.view(-1, self.groups, self.dim)
        for g in range(self.groups):
            dead = (counts[g] == 0).nonzero().flatten()
            self.codebook[g, dead] = z[torch.randint(len(z), (len(dead),)), g]


class Codec(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.vq = GroupedVQ()
        d = self.vq.groups * self.vq.dim
        self.encoder = nn.Sequential(nn.Linear(BINS, width), nn.GELU(), nn.Linear(width, width), nn.GELU(),
                                     nn.Linear(width, d), nn.LayerNorm(d))
        self.decoder = nn.Sequential(nn.Linear(d, width), nn.GELU(), nn.Linear(width, width), nn.GELU(),
                                     nn.Linear(width, BINS))

    def forward(self, x):
        q, codes, vq_loss = self.vq(self.encoder(x))
        return self.decoder(q), codes, vq_loss

    @torch.no_grad()
    def compress(self, x):
        return self.vq(self.encoder(x))[1]

    @torch.no_grad()
    def decompress(self, codes):
        return self.decoder(self.vq.lookup(codes))


def usage(codes, groups, entries):
    return torch.stack([torch.bincount(codes[:, g], minlength=entries) for g in range(groups)])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=2000)
    p.add_argument("--batch", type=int, default=256)
    p.add_argument("--lr", type=float, default=2e-3)
    args = p.parse_args()
    torch.manual_seed(1)

    train, held = make_frames(20000, 0), make_frames(2000, 1)
    mean = train.mean(0)
    base = (held - mean).pow(2).mean().item()
    print(f"held-out mse of the mean frame: {base:.4f}")

    model = Codec()
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.0)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: 1.0 if s < 0.6 * args.steps else 0.2)
    counts = torch.zeros(4, 32, dtype=torch.long)
    for step in range(1, args.steps + 1):
        x = train[torch.randint(len(train), (args.batch,))] - mean
        recon, codes, vq_loss = model(x)
        loss = F.mse_loss(recon, x) + vq_loss
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        counts += usage(codes, 4, 32)
        if step % 100 == 0 and step <= 0.6 * args.steps:
            with torch.no_grad():
                model.vq.restart_unused(model.encoder(x), counts)
            counts.zero_()
        if step % 500 == 0:
            codes = model.compress(held - mean)
            mse = (model.decompress(codes) - (held - mean)).pow(2).mean().item()
            used = (usage(codes, 4, 32) > 0).sum().item()
            print(f"step {step:5d}  loss {loss.item():.4f}  codec mse on held-out frames {mse:.4f}  "
                  f"({1 - mse / base:.1%} of variance, {used}/128 entries in use)")
    os.makedirs("out", exist_ok=True)
    torch.save(model.state_dict(), "out/codec.pt")


if __name__ == "__main__":
    main()
