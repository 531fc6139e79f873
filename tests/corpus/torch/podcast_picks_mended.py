"""Matrix factorisation for podcast star ratings."""
import argparse
import math

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--rank", type=int, default=6)
parser.add_argument("--epochs", type=int, default=18)
parser.add_argument("--lr", type=float, default=5e-3)
parser.add_argument("--seed", type=int, default=3)
args = parser.parse_args()

TABLE_SIZE = 1000  # leave room for people and shows added during the week
N_LISTENERS, N_SHOWS = 900, 420


def make_log(seed):
    rng = np.random.default_rng(seed)
    taste = rng.normal(size=(N_LISTENERS, 4))
    style = rng.normal(size=(N_SHOWS, 4))
    kind = rng.normal(0, 0.4, N_LISTENERS)
    fame = rng.normal(0, 0.6, N_SHOWS)
    listener = np.repeat(np.arange(N_LISTENERS), 60)
    show = np.concatenate([rng.choice(N_SHOWS, 60, replace=False) for _ in range(N_LISTENERS)])
    stars = 3 + kind[listener] + fame[show] + 0.5 * (taste[listener] * style[show]).sum(1)
    stars = stars + rng.normal(0, 0.25, len(stars))
    order = rng.permutation(len(stars))
    return listener[order], show[order], stars[order].astype(np.float32)


class Factors(nn.Module):
    def __init__(self, rank):
        super().__init__()
        self.p = nn.Embedding(TABLE_SIZE, rank)
        self.q = nn.Embedding(TABLE_SIZE, rank)
        self.bp = nn.Embedding(TABLE_SIZE, 1)
        self.bq = nn.Embedding(TABLE_SIZE, 1)
        self.mu = nn.Parameter(torch.tensor(3.0))
        for e in (self.p, self.q):
            nn.init.normal_(e.weight, std=0.1)
        for e in (self.bp, self.bq):
            nn.init.zeros_(e.weight)

    def forward(self, listener, show):
        dot = (self.p(listener) * self.q(show)).sum(-1)
        return self.mu + self.bp(listener).squeeze(-1) + self.bq(show).squeeze(-1) + dot


def rmse(model, loader):
    model.eval()
    total, n = 0.0, 0
    with torch.no_grad():
        for listener, show, stars in loader:
            total += ((model(listener, show) - stars) ** 2).sum().item()
            n += len(stars)
    return math.sqrt(total / n)


def main():
    torch.manual_seed(args.seed)
    listener, show, stars = (torch.from_numpy(a) for a in make_log(args.seed))
    cut = int(0.9 * len(stars))
    train = TensorDataset(listener[:cut], show[:cut], stars[:cut])
    held = TensorDataset(listener[cut:], show[cut:], stars[cut:])
    train_loader = DataLoader(train, batch_size=256, shuffle=True)
    held_loader = DataLoader(held, batch_size=2048)

    model = Factors(args.rank)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-2)
    for epoch in range(args.epochs):
        model.train()
        running = 0.0
        for listener, show, stars in train_loader:
            loss = nn.functional.mse_loss(model(listener, show), stars)
            opt.zero_grad()
            loss.backward()
            opt.step()
            running += loss.item() * len(stars)
        print(f"epoch {epoch:2d}  train rmse {math.sqrt(running / cut):.3f}  held-out rmse {rmse(model, held_loader):.3f}")


if __name__ == "__main__":
    main()
