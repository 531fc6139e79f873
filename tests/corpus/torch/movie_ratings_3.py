"""Neural matrix factorisation for movie ratings."""
import argparse
import json
import os

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def synthetic_ratings(n_users=300, n_items=200, per_user=40, seed=0):
    rng = np.random.default_rng(seed)
    taste = rng.normal(0, 1, (n_users, 3))
    style = rng.normal(0, 1, (n_items, 3))
    user_bias = rng.normal(0, 0.4, n_users)
    item_bias = rng.normal(0, 0.6, n_items)
    users, items, ratings = [], [], []
    popularity = rng.dirichlet(np.full(n_items, 2.0))
    for u in range(n_users):
        seen = rng.choice(n_items, per_user, replace=False, p=popularity)
        raw = 3.4 + user_bias[u] + item_bias[seen] + 0.45 * style[seen] @ taste[u]
        raw += rng.normal(0, 0.25, per_user)
        users.append(np.full(per_user, u))
        items.append(seen)
        ratings.append(np.clip(np.round(raw * 2) / 2, 0.5, 5.0))
    users, items = np.concatenate(users), np.concatenate(items)
    ratings = np.concatenate(ratings).astype(np.float32)
    return TensorDataset(torch.from_numpy(users), torch.from_numpy(items),
                         torch.from_numpy(ratings)), n_users, n_items


class Recommender(nn.Module):
    def __init__(self, n_users, n_items, dim, mean):
        super().__init__()
        self.user = nn.Embedding(n_users, dim)
        self.item = nn.Embedding(n_items, dim)
        self.user_bias = nn.Embedding(n_users, 1)
        self.item_bias = nn.Embedding(n_items, 1)
        self.register_buffer("mean", torch.tensor(mean))
        for emb in (self.user, self.item):
            nn.init.normal_(emb.weight, std=0.1)
        for emb in (self.user_bias, self.item_bias):
            nn.init.zeros_(emb.weight)

    def forward(self, u, i):
        dot = (self.user(u) * self.item(i)).sum(-1)
        return self.mean + dot + self.user_bias(u).squeeze(-1) + self.item_bias(i).squeeze(-1)


@torch.no_grad()
def rmse(model, loader):
    model.eval()
    se, n = 0.0, 0
    for u, i, r in loader:
        pred = model(u, i).clamp(0.5, 5.0)
        se += ((pred - r) ** 2).sum().item()
        n += len(r)
    return (se / n) ** 0.5


def train(args):
    torch.manual_seed(args.seed)
    data, n_users, n_items = synthetic_ratings(seed=args.seed)
    n_test = n_val = len(data) // 10
    train_set, val_set, test_set = random_split(data, [len(data) - n_val - n_test, n_val, n_test])
    train_loader = DataLoader(train_set, args.batch_size, shuffle=True)
    val_loader, test_loader = DataLoader(val_set, 2048), DataLoader(test_set, 2048)

    mean = data.tensors[2][train_set.indices].mean().item()
    model = Recommender(n_users, n_items, args.dim, mean)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=args.wd)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=args.gamma)
    mse = nn.MSELoss()

    log = []
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for u, i, r in train_loader:
            optimizer.zero_grad()
            loss = mse(model(u, i), r)
            loss.backward()
            optimizer.step()
            scheduler.step()
            total += loss.item() * len(r)
        log.append({"epoch": epoch + 1, "train_mse": total / len(train_set),
                    "val_rmse": rmse(model, val_loader)})
        print(log[-1])

    os.makedirs("out", exist_ok=True)
    with open("out/movie_ratings.json", "w") as f:
        json.dump(log, f, indent=1)

    test_ratings = data.tensors[2][test_set.indices]
    print(f"global mean test RMSE {((test_ratings - mean) ** 2).mean().sqrt().item():.3f}")
    print(f"model test RMSE {rmse(model, test_loader):.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--dim", type=int, default=6)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--wd", type=float, default=0.1)
    parser.add_argument("--gamma", type=float, default=0.9)
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--seed", type=int, default=13)
    train(parser.parse_args())
