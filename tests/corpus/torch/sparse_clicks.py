"""Click model: sparse id tables with SparseAdam, dense tower with AdamW."""
import argparse

import numpy as np
import torch
from torch import nn


def make_clicks(n, users, ads, seed=0):
    rng = np.random.default_rng(seed)
    pu, pa = rng.normal(0, 1, (users, 3)), rng.normal(0, 1, (ads, 3))
    u = rng.zipf(1.3, n) % users
    a = rng.integers(0, ads, n)
    ctx = rng.normal(0, 1, (n, 5))
    z = 1.1 * (pu[u] * pa[a]).sum(1) + ctx[:, 0] * 0.8 - ctx[:, 1] * ctx[:, 2] * 0.6 - 1.2
    y = rng.random(n) < 1 / (1 + np.exp(-z))
    return (torch.tensor(u), torch.tensor(a), torch.tensor(ctx, dtype=torch.float32), torch.tensor(y, dtype=torch.float32))


class ClickNet(nn.Module):
    def __init__(self, users, ads, prior, dim=8):
        super().__init__()
        self.users = nn.Embedding(users, dim, sparse=True)
        self.ads = nn.Embedding(ads, dim, sparse=True)
        for t in (self.users, self.ads):
            nn.init.normal_(t.weight, std=0.1)
        self.tower = nn.Sequential(nn.Linear(3 * dim + 5, 48), nn.ReLU(), nn.Linear(48, 24), nn.ReLU(), nn.Linear(24, 1))
        nn.init.constant_(self.tower[-1].bias, float(np.log(prior / (1 - prior))))

    def forward(self, u, a, ctx):
        eu, ea = self.users(u), self.ads(a)
        return (eu * ea).sum(1) + self.tower(torch.cat([eu, ea, eu * ea, ctx], 1)).squeeze(1)


def auc(score, y):
    order = torch.argsort(score)
    rank = torch.empty(len(score), dtype=torch.float64)
    rank[order] = torch.arange(1, len(score) + 1, dtype=torch.float64)
    pos = y.bool()
    n1, n0 = pos.sum().item(), (~pos).sum().item()
    return ((rank[pos].sum() - n1 * (n1 + 1) / 2) / (n1 * n0)).item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--users", type=int, default=1000)
    p.add_argument("--ads", type=int, default=200)
    p.add_argument("--rows", type=int, default=400000)
    p.add_argument("--batch", type=int, default=1024)
    p.add_argument("--epochs", type=int, default=5)
    args = p.parse_args()

    torch.manual_seed(0)
    data = make_clicks(args.rows, args.users, args.ads)
    cut = int(args.rows * 0.9)
    train, test = [t[:cut] for t in data], [t[cut:] for t in data]
    prior = train[3].mean().item()
    net = ClickNet(args.users, args.ads, prior)
    sparse = torch.optim.SparseAdam([net.users.weight, net.ads.weight], lr=3e-3)
    dense = torch.optim.AdamW(net.tower.parameters(), lr=2e-3, weight_decay=1e-2)
    bce = nn.BCEWithLogitsLoss()
    print("click rate %.3f" % prior)

    for epoch in range(args.epochs):
        net.train()
        total = 0.0
        for idx in torch.randperm(cut).split(args.batch):
            u, a, ctx, y = (t[idx] for t in train)
            loss = bce(net(u, a, ctx), y)
            sparse.zero_grad()
            dense.zero_grad()
            loss.backward()
            sparse.step()
            dense.step()
            total += loss.item() * len(idx)
        net.eval()
        with torch.no_grad():
            score = net(*test[:3])
            print(f"epoch {epoch} train {total / cut:.4f} test {bce(score, test[3]).item():.4f} auc {auc(score, test[3]):.4f}")


if __name__ == "__main__":
    main()
