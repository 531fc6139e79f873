"""Denoising autoencoder for small glyph images, with a running log of validation batches."""
import argparse
import resource

import numpy as np
import torch
from torch import nn


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=14)
    p.add_argument("--size", type=int, default=32)
    p.add_argument("--train", type=int, default=288)
    p.add_argument("--valid", type=int, default=160)
    p.add_argument("--noise", type=float, default=0.4)
    p.add_argument("--lr", type=float, default=3e-3)
    return p.parse_args()


def draw(n, size, rng):
    """Random rings and bars."""
    yy, xx = np.mgrid[0:size, 0:size]
    out = np.zeros((n, 1, size, size), dtype=np.float32)
    for i in range(n):
        cx, cy = rng.uniform(size * 0.3, size * 0.7, 2)
        if rng.random() < 0.5:
            r = rng.uniform(5, 10)
            out[i, 0] = np.abs(np.hypot(xx - cx, yy - cy) - r) < 1.6
        else:
            a = rng.uniform(0, np.pi)
            out[i, 0] = np.abs((xx - cx) * np.sin(a) - (yy - cy) * np.cos(a)) < 1.8
    return torch.from_numpy(out)


class Denoiser(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.enc = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, width, 3, stride=2, padding=1), nn.ReLU(),
        )
        self.dec = nn.Sequential(
            nn.Upsample(scale_factor=2), nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, 1, 3, padding=1),
        )

    def forward(self, x):
        return self.dec(self.enc(x))


class History:
    """Keeps every validation reconstruction so that progress can be plotted later."""

    def __init__(self):
        self.rows = []

    def add(self, epoch, recon, error):
        self.rows.append({"epoch": epoch, "recon": recon, "error": error})

    def mean_error(self, epoch):
        errs = [float(r["error"]) for r in self.rows if r["epoch"] == epoch]
        return sum(errs) / len(errs)


def rss_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def validate(model, noisy, clean, epoch, history, batch=32):
    model.eval()
    for i in range(0, len(noisy), batch):
        recon = model(noisy[i:i + batch])
        error = nn.functional.mse_loss(recon, clean[i:i + batch])
        history.add(epoch, recon, error)
    return history.mean_error(epoch)


def main():
    args = parse()
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    clean = draw(args.train, args.size, rng)
    clean_v = draw(args.valid, args.size, rng)
    noisy_v = clean_v + args.noise * torch.randn_like(clean_v)
    model = Denoiser()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs)
    history = History()
    first = None
    for epoch in range(args.epochs):
        model.train()
        for idx in torch.randperm(len(clean)).split(32):
            target = clean[idx]
            loss = nn.functional.mse_loss(model(target + args.noise * torch.randn_like(target)), target)
            opt.zero_grad()
            loss.backward()
            opt.step()
        sched.step()
        err = validate(model, noisy_v, clean_v, epoch, history)
        first = first or rss_mb()
        print(f"epoch {epoch:2d}  valid mse {err:.4f}  peak memory {rss_mb():.0f} MB")
    trivial = nn.functional.mse_loss(clean.mean().expand_as(clean_v), clean_v).item()
    print(f"final valid mse {err:.4f} (constant image {trivial:.4f})  growth since epoch 0: {rss_mb() - first:.0f} MB")


if __name__ == "__main__":
    main()
