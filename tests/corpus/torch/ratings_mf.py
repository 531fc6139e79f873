"""Matrix factorisation of movie ratings with biases; the big tables get sparse gradients."""
import argparse
import numpy as np
import torch
from torch import nn


def fake_ratings(n_users=300, n_items=120, n_obs=9000, rank=3, seed=0):
    r = np.random.RandomState(seed)
    p, q = r.randn(n_users, rank) * .6, r.randn(n_items, rank) * .6
    bu, bi = r.randn(n_users) * .4, r.randn(n_items) * .5
    pairs = r.permutation(n_users * n_items)[:n_obs]
    u, i = pairs // n_items, pairs % n_items
    y = 3.4 + bu[u] + bi[i] + (p[u] * q[i]).sum(1) + r.randn(n_obs) * .25
    return u, i, y.astype("float32")


class MF(nn.Module):
    def __init__(self, nu, ni, k, mean):
        super().__init__()
        self.user, self.item = nn.Embedding(nu, k, sparse=True), nn.Embedding(ni, k, sparse=True)
        self.bu, self.bi = nn.Parameter(torch.zeros(nu)), nn.Parameter(torch.zeros(ni))
        self.register_buffer("mean", torch.tensor(mean))
        for e in (self.user, self.item):
            nn.init.normal_(e.weight, std=0.1)

    def forward(self, u, i):
        return self.mean + self.bu[u] + self.bi[i] + (self.user(u) * self.item(i)).sum(-1)


def rmse(model, u, i, y):
    with torch.no_grad():
        return (model(u, i) - y).pow(2).mean().sqrt().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-k", type=int, default=4)
    parser.add_argument("--micro", type=int, default=64)
    parser.add_argument("--accum", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=14)
    a = parser.parse_args()
    torch.manual_seed(0)

    u, i, y = (torch.as_tensor(v) for v in fake_ratings())
    u, i = u.long(), i.long()
    cut = int(.85 * len(y))
    tr, te = slice(0, cut), slice(cut, None)
    model = MF(300, 120, a.k, float(y[tr].mean()))
    tables = torch.optim.SparseAdam([model.user.weight, model.item.weight], lr=8e-3)
    biases = torch.optim.Adam([model.bu, model.bi], lr=3e-2)
    print("mean only rmse", (y[te] - model.mean).pow(2).mean().sqrt().item())

    for epoch in range(a.epochs):
        chunks = torch.randperm(cut).split(a.micro * a.accum)
        for chunk in chunks:
            for part in chunk.split(a.micro):
                err = (model(u[tr][part], i[tr][part]) - y[tr][part]).pow(2).sum()
                (err / len(chunk)).backward()
            for o in (tables, biases):
                o.step()
                o.zero_grad()
        print(f"epoch {epoch:02d} train rmse {rmse(model, u[tr], i[tr], y[tr]):.4f} test rmse {rmse(model, u[te], i[te], y[te]):.4f}")


if __name__ == "__main__":
    main()
