"""Podcast recommender: sparse embedding tables with their own optimizer, fixed random genre features."""
import numpy as np
import torch
from torch import nn

U, P, K = 500, 300, 6


class TwoSided(nn.Module):
    def __init__(self, genre, dim=16):
        super().__init__()
        self.user = nn.Embedding(U, dim, sparse=True)
        self.item = nn.Embedding(P, dim, sparse=True)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.item.weight, std=0.1)
        self.register_buffer("genre", genre)
        self.project = nn.Linear(genre.shape[1], 32)
        for p in self.project.parameters():
            p.requires_grad_(False)
        self.mix = nn.Sequential(nn.Linear(2 * dim + 32, 64), nn.ReLU(), nn.Linear(64, 1))
        self.bias = nn.Parameter(torch.zeros(()))

    def forward(self, u, i):
        eu, ei = self.user(u), self.item(i)
        g = torch.relu(self.project(self.genre[i]))
        return (eu * ei).sum(1) + self.mix(torch.cat([eu, ei, g], 1)).squeeze(1) + self.bias


def make(rng):
    tu, ti = rng.normal(size=(U, K)), rng.normal(size=(P, K))
    genre = (ti @ rng.normal(size=(K, 8)) > 0).astype("float32")
    u, i = rng.integers(0, U, 60000), rng.integers(0, P, 60000)
    p = 1 / (1 + np.exp(-1.5 * (tu[u] * ti[i]).sum(1)))
    y = (rng.random(60000) < p).astype("float32")
    return torch.from_numpy(u), torch.from_numpy(i), torch.from_numpy(y), torch.from_numpy(genre)


def auc(score, y):
    r = score.argsort().argsort().double() + 1
    pos = y.sum().item()
    neg = len(y) - pos
    return (r[y > .5].sum().item() - pos * (pos + 1) / 2) / (pos * neg)


def main():
    torch.manual_seed(9)
    u, i, y, genre = make(np.random.default_rng(9))
    cut = 52000
    model = TwoSided(genre)
    tables = [model.user.weight, model.item.weight]
    dense = list(model.mix.parameters()) + [model.bias]
    opt_tables = torch.optim.SparseAdam(tables, lr=4e-3)
    opt_dense = torch.optim.AdamW(dense, lr=2e-3, weight_decay=1e-2)
    halve = torch.optim.lr_scheduler.LambdaLR(opt_tables, lambda e: 0.8 ** e)
    bce = nn.BCEWithLogitsLoss()
    best = (0.0, None)
    for epoch in range(12):
        model.train()
        order = torch.randperm(cut)
        total = 0.0
        for k in range(0, cut, 256):
            b = order[k:k + 256]
            loss = bce(model(u[b], i[b]), y[b])
            opt_tables.zero_grad()
            opt_dense.zero_grad()
            loss.backward()
            opt_tables.step()
            opt_dense.step()
            total += loss.item() * len(b)
        halve.step()
        model.eval()
        with torch.no_grad():
            a = auc(model(u[cut:], i[cut:]), y[cut:])
        if a > best[0]:
            best = (a, {k: v.clone() for k, v in model.state_dict().items()})
        print(f"epoch {epoch} loss {total / cut:.4f} held-out AUC {a:.4f}")
    model.load_state_dict(best[1])
    print(f"kept AUC {best[0]:.4f}")


if __name__ == "__main__":
    main()
