"""Metric learning on digits: fixed random Fourier layer, batch-hard triplets, retrieval on held-out images."""
import argparse
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import Sampler, DataLoader, TensorDataset


class RandomFourier(nn.Module):
    """cos(Wx + b) with W and b drawn once and kept as buffers."""

    def __init__(self, d_in, d_out, scale=0.35):
        super().__init__()
        self.register_buffer("w", torch.randn(d_in, d_out) * scale)
        self.register_buffer("b", torch.rand(d_out) * 2 * torch.pi)

    def forward(self, x):
        return (2.0 / self.w.shape[1]) ** 0.5 * torch.cos(x @ self.w + self.b)


class Embedder(nn.Module):
    def __init__(self, d_out=24):
        super().__init__()
        self.rff = RandomFourier(64, 512)
        self.conv = nn.Sequential(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                                  nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.Flatten())
        self.mix = nn.Linear(512 + 32 * 16, d_out, bias=False)

    def forward(self, x):
        both = torch.cat([self.rff(x.flatten(1)), self.conv(x)], dim=1)
        return F.normalize(self.mix(both), dim=1)


class PKSampler(Sampler):
    """P classes with K images each; classes and images are drawn with replacement across batches."""

    def __init__(self, y, p, k, n_batches):
        self.by_class = {int(c): np.flatnonzero(y == c) for c in np.unique(y)}
        self.p, self.k, self.n_batches = p, k, n_batches

    def __iter__(self):
        for _ in range(self.n_batches):
            cls = np.random.choice(list(self.by_class), self.p, replace=False)
            yield np.concatenate([np.random.choice(self.by_class[c], self.k, replace=False)
                                  for c in cls]).tolist()

    def __len__(self):
        return self.n_batches


def batch_hard(z, y, margin):
    d = torch.cdist(z, z)
    same = y[:, None] == y[None]
    pos = d.masked_fill(~same, -1.0).max(dim=1).values
    neg = d.masked_fill(same, 9.0).min(dim=1).values
    return F.relu(pos - neg + margin).mean(), (neg > pos).float().mean()


@torch.no_grad()
def recall_at_1(embed, x, y):
    z = embed(x)
    d = torch.cdist(z, z)
    d.fill_diagonal_(float("inf"))
    return (y[d.argmin(1)] == y).float().mean().item()


@torch.no_grad()
def mean_ap(embed, x, y):
    z = embed(x)
    d = torch.cdist(z, z)
    d.fill_diagonal_(float("inf"))
    rel = (y[d.argsort(1)[:, :-1]] == y[:, None]).float()
    prec = rel.cumsum(1) / torch.arange(1, rel.shape[1] + 1)
    return ((prec * rel).sum(1) / rel.sum(1)).mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--margin", type=float, default=0.3)
    ap.add_argument("--seed", type=int, default=4)
    a = ap.parse_args()
    torch.manual_seed(a.seed)
    np.random.seed(a.seed)

    data = load_digits()
    x = torch.tensor(data.images / 16.0, dtype=torch.float32)[:, None]
    y = torch.tensor(data.target)
    seen, new = train_test_split(np.arange(len(y)), test_size=0.4, stratify=y.numpy(), random_state=a.seed)
    x_tr, y_tr, x_new, y_new = x[seen], y[seen], x[new], y[new]
    loader = DataLoader(TensorDataset(x_tr, y_tr), batch_sampler=PKSampler(y_tr.numpy(), 8, 8, 25))

    net = Embedder()
    raw = lambda t: t.flatten(1)
    opt = torch.optim.RMSprop(net.parameters(), lr=4e-4, alpha=0.95)
    for epoch in range(a.epochs):
        tot, sep = 0.0, 0.0
        for xb, yb in loader:
            loss, frac = batch_hard(net(xb), yb, a.margin)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item()
            sep += frac.item()
        net.eval()
        print(f"epoch {epoch} triplet {tot / len(loader):.4f} separated {sep / len(loader):.3f} "
              f"held-out mAP {mean_ap(net, x_new, y_new):.3f}")
        net.train()

    Path("out").mkdir(exist_ok=True)
    torch.save(net.state_dict(), "out/embedder.pt")
    net.eval()
    print(f"held-out images: recall@1 {recall_at_1(net, x_new, y_new):.3f} "
          f"mAP {mean_ap(net, x_new, y_new):.3f} (pixels mAP {mean_ap(raw, x_new, y_new):.3f}, chance 0.10)")


if __name__ == "__main__":
    main()
