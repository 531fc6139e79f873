"""Route an incident to the owning team from a window of parsed log lines.

Every line is (component, level, message template). The window is short enough
to read in one go, and usually a single line tells which team should be paged.
"""
import argparse
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

N_COMP, N_LEVEL, N_TPL, LINES = 24, 5, 40, 18
TEAMS = ["storage", "network", "billing", "identity", "search", "platform"]


def make_windows(n, rng):
    comp = rng.integers(0, N_COMP, (n, LINES))
    level = rng.integers(0, N_LEVEL - 1, (n, LINES))      # debug .. warning
    tpl = rng.integers(0, N_TPL, (n, LINES))
    where = rng.integers(0, LINES, n)
    rows = np.arange(n)
    level[rows, where] = N_LEVEL - 1                        # the one error line
    team = (comp[rows, where] * 7 + 3) % len(TEAMS)
    flip = rng.random(n) < 0.03
    team[flip] = rng.integers(0, len(TEAMS), flip.sum())
    x = np.stack([comp, level, tpl], axis=-1)
    return torch.as_tensor(x), torch.as_tensor(team)


class LineEncoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.comp = nn.Embedding(N_COMP, dim)
        self.level = nn.Embedding(N_LEVEL, dim)
        self.tpl = nn.Embedding(N_TPL, dim)
        self.mix = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, dim), nn.GELU())

    def forward(self, x):
        e = self.comp(x[..., 0]) + self.level(x[..., 1]) + self.tpl(x[..., 2])
        return e + self.mix(e)


class TriageNet(nn.Module):
    def __init__(self, dim=48, n_teams=len(TEAMS)):
        super().__init__()
        self.encoder = LineEncoder(dim)
        self.relevance = nn.Sequential(nn.Linear(dim, 32), nn.Tanh(), nn.Linear(32, 1))
        self.head = nn.Sequential(nn.Linear(dim, 64), nn.ReLU(), nn.Linear(64, n_teams))

    def forward(self, x):
        h = self.encoder(x)                                 # (B, L, D)
        scores = self.relevance(h).squeeze(-1)              # (B, L)
        weights = F.softmax(scores, dim=-1)
        evidence = torch.einsum("bl,bld->bd", weights, h)
        return self.head(evidence)


@torch.no_grad()
def accuracy(net, loader):
    net.eval()
    hit = total = 0
    for x, y in loader:
        hit += (net(x).argmax(1) == y).sum().item()
        total += len(y)
    return hit / total


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=14)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--seed", type=int, default=5)
    args = p.parse_args()

    random.seed(args.seed)
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)

    train = TensorDataset(*make_windows(5000, rng))
    valid = TensorDataset(*make_windows(1000, rng))
    test = TensorDataset(*make_windows(2000, rng))
    train_dl = DataLoader(train, batch_size=args.batch_size, shuffle=True)
    valid_dl, test_dl = DataLoader(valid, batch_size=500), DataLoader(test, batch_size=500)

    net = TriageNet()
    opt = torch.optim.AdamW(net.parameters(), lr=args.lr, weight_decay=1e-2)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=args.epochs)
    for epoch in range(args.epochs):
        net.train()
        running = 0.0
        for x, y in train_dl:
            loss = F.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            running += loss.item() * len(y)
        sched.step()
        print(f"[{epoch + 1:02d}/{args.epochs}] loss {running / len(train):.4f}  valid acc {accuracy(net, valid_dl):.3f}")

    majority = torch.bincount(test.tensors[1]).max().item() / len(test)
    print(f"test acc {accuracy(net, test_dl):.3f}   (always the largest team: {majority:.3f})")


if __name__ == "__main__":
    main()
