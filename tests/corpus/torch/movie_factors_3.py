"""Matrix factorisation for star ratings, sparse embeddings and plain SGD."""
import argparse
import numpy as np
import torch
from torch import nn


def make_ratings(users=400, items=250, rank=4, per_user=60, seed=0):
    rng = np.random.default_rng(seed)
    p, q = rng.normal(0, 1, (users, rank)), rng.normal(0, 1, (items, rank))
    bu, bi = rng.normal(0, 0.4, users), rng.normal(0, 0.5, items)
    rows = []
    for u in range(users):
        for i in rng.choice(items, per_user, replace=False):
            r = 3.3 + bu[u] + bi[i] + 0.45 * p[u] @ q[i] + rng.normal(0, 0.25)
            rows.append((u, i, np.clip(np.round(2 * r) / 2, 0.5, 5.0)))
    rows = np.array(rows)
    return rows[rng.permutation(len(rows))]


class Factors(nn.Module):
    def __init__(self, users, items, dim, mean):
        super().__init__()
        self.user = nn.Embedding(users, dim, sparse=True)
        self.item = nn.Embedding(items, dim, sparse=True)
        self.user_bias = nn.Embedding(users, 1, sparse=True)
        self.item_bias = nn.Embedding(items, 1, sparse=True)
        for e in (self.user, self.item):
            nn.init.normal_(e.weight, std=0.1)
        for e in (self.user_bias, self.item_bias):
            nn.init.zeros_(e.weight)
        self.register_buffer("mean", torch.tensor(float(mean)))

    def forward(self, u, i):
        dot = (self.user(u) * self.item(i)).sum(-1)
        return self.mean + dot + self.user_bias(u).squeeze(-1) + self.item_bias(i).squeeze(-1)


def rmse(model, u, i, r):
    with torch.no_grad():
        return (model(u, i).clamp(0.5, 5.0) - r).pow(2).mean().sqrt().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--dim", type=int, default=6)
    ap.add_argument("--batch", type=int, default=512)
    # the loss is a mean over the batch, each row appears in it about once, hence the scale
    ap.add_argument("--lr", type=float, default=25.0)
    ap.add_argument("--epochs", type=int, default=30)
    args = ap.parse_args()

    torch.manual_seed(0)
    rows = make_ratings()
    cut = int(0.85 * len(rows))
    u = torch.tensor(rows[:, 0], dtype=torch.long)
    i = torch.tensor(rows[:, 1], dtype=torch.long)
    r = torch.tensor(rows[:, 2], dtype=torch.float32)
    mean = r[:cut].mean()

    model = Factors(400, 250, args.dim, mean)
    opt = torch.optim.SGD(model.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.LinearLR(opt, 1.0, 0.1, total_iters=args.epochs)
    for epoch in range(args.epochs):
        order = torch.randperm(cut)
        total = 0.0
        for idx in order.split(args.batch):
            opt.zero_grad()
            fit = (model(u[idx], i[idx]) - r[idx]).pow(2).mean()
            size = (model.user(u[idx]).pow(2).sum(-1) + model.item(i[idx]).pow(2).sum(-1)).mean()
            (fit + 0.02 * size).backward()
            opt.step()
            total += fit.item() * len(idx)
        sched.step()
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1} train mse {total / cut:.4f} "
                  f"held-out rmse {rmse(model, u[cut:], i[cut:], r[cut:]):.4f}")
    base = (r[cut:] - mean).pow(2).mean().sqrt().item()
    print(f"held-out RMSE {rmse(model, u[cut:], i[cut:], r[cut:]):.4f} (global mean {base:.4f})")


if __name__ == "__main__":
    main()
