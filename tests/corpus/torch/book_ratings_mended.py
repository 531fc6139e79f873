#!/usr/bin/env python
"""Neural collaborative filtering for a reading club: predict the stars a reader gives a book."""
import argparse
import logging

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("ratings")


def simulate(n_readers, n_books, per_reader, seed):
    g = np.random.default_rng(seed)
    taste = g.normal(0, 1, (n_readers, 4))
    style = g.normal(0, 1, (n_books, 4))
    strict = g.normal(0, 0.5, n_readers)
    quality = g.normal(0, 0.5, n_books)
    rows = []
    for u in range(n_readers):
        for b in g.choice(n_books, per_reader, replace=False):
            s = 3.4 + strict[u] + quality[b] + 0.55 * taste[u] @ style[b] + g.normal(0, 0.35)
            rows.append((u, b, float(np.clip(np.round(s * 2) / 2, 0.5, 5.0))))
    rows = np.array(rows, dtype=np.float32)
    g.shuffle(rows)
    return rows


class RatingSet(Dataset):
    def __init__(self, rows):
        self.u = torch.as_tensor(rows[:, 0], dtype=torch.long)
        self.b = torch.as_tensor(rows[:, 1], dtype=torch.long)
        self.r = torch.as_tensor(rows[:, 2], dtype=torch.float32)

    def __len__(self):
        return len(self.r)

    def __getitem__(self, i):
        return self.u[i], self.b[i], self.r[i]


class NeuMF(nn.Module):
    def __init__(self, n_readers, n_books, dim, mean):
        super().__init__()
        self.eu, self.eb = nn.Embedding(n_readers, dim), nn.Embedding(n_books, dim)
        self.bu, self.bb = nn.Embedding(n_readers, 1), nn.Embedding(n_books, 1)
        for e in (self.eu, self.eb):
            nn.init.normal_(e.weight, std=0.1)
        for e in (self.bu, self.bb):
            nn.init.zeros_(e.weight)
        self.mlp = nn.Sequential(nn.Linear(2 * dim, 32), nn.ReLU(), nn.Linear(32, 1))
        self.register_buffer("mean", torch.tensor(mean))

    def forward(self, u, b):
        pu, qb = self.eu(u), self.eb(b)
        dot = (pu * qb).sum(-1)
        deep = self.mlp(torch.cat([pu, qb], -1)).squeeze(-1)
        return self.mean + dot + deep + self.bu(u).squeeze(-1) + self.bb(b).squeeze(-1)


@torch.no_grad()
def rmse(model, loader):
    model.eval()
    se = n = 0
    for u, b, r in loader:
        se += ((model(u, b) - r) ** 2).sum().item()
        n += len(r)
    return (se / n) ** 0.5


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=15)
    ap.add_argument("--batch", type=int, default=256)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--dim", type=int, default=8)
    ap.add_argument("--seed", type=int, default=3)
    args = ap.parse_args()
    torch.manual_seed(args.seed)

    rows = simulate(400, 200, 60, args.seed)
    n = len(rows)
    tr, va, te = rows[: int(0.8 * n)], rows[int(0.8 * n): int(0.9 * n)], rows[int(0.9 * n):]
    mean = float(tr[:, 2].mean())
    train = DataLoader(RatingSet(tr), batch_size=args.batch, shuffle=True)
    valid = DataLoader(RatingSet(va), batch_size=1024)
    test = DataLoader(RatingSet(te), batch_size=1024)
    log.info("%d train / %d valid / %d test; RMSE of the mean %.3f", len(tr), len(va), len(te),
             float(np.sqrt(((te[:, 2] - mean) ** 2).mean())))

    model = NeuMF(400, 200, args.dim, mean)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=5, gamma=0.4)
    mse = nn.MSELoss()
    for epoch in range(1, args.epochs + 1):
        model.train()
        running = 0.0
        for u, b, r in train:
            optimizer.zero_grad()
            loss = mse(model(u, b), r)
            loss.backward()
            optimizer.step()
            running += loss.item() * len(r)
        scheduler.step()
        log.info("epoch %2d  train rmse %.3f  valid rmse %.3f", epoch,
                 (running / len(tr)) ** 0.5, rmse(model, valid))
    log.info("TEST rmse %.3f", rmse(model, test))


if __name__ == "__main__":
    main()
