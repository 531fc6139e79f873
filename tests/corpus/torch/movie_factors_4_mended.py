"""Neural matrix factorisation on a ratings table, trained with momentum SGD and a step schedule."""
import argparse
import math

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def synth_ratings(n_users, n_items, n_obs, seed):
    rng = np.random.default_rng(seed)
    k = 4
    taste = rng.normal(size=(n_users, k))
    genre = rng.normal(size=(n_items, k))
    bias_u = rng.normal(0, 0.3, n_users)
    bias_i = rng.normal(0, 0.5, n_items)
    flat = rng.choice(n_users * n_items, size=n_obs, replace=False)
    u, i = flat // n_items, flat % n_items
    score = 3.4 + bias_u[u] + bias_i[i] + 0.45 * (taste[u] * genre[i]).sum(1) + rng.normal(0, 0.25, n_obs)
    score = np.clip(np.round(score * 2) / 2, 0.5, 5.0)
    return torch.from_numpy(u), torch.from_numpy(i), torch.from_numpy(score).float()


class Factors(nn.Module):
    def __init__(self, n_users, n_items, dim, mean):
        super().__init__()
        self.user = nn.Embedding(n_users, dim)
        self.item = nn.Embedding(n_items, dim)
        self.user_bias = nn.Embedding(n_users, 1)
        self.item_bias = nn.Embedding(n_items, 1)
        for emb in (self.user, self.item):
            nn.init.normal_(emb.weight, std=0.3)
        for emb in (self.user_bias, self.item_bias):
            nn.init.zeros_(emb.weight)
        self.register_buffer("mean", torch.tensor(mean))

    def forward(self, u, i):
        dot = (self.user(u) * self.item(i)).sum(-1)
        return self.mean + dot + self.user_bias(u).squeeze(-1) + self.item_bias(i).squeeze(-1)


def rmse(model, loader):
    model.eval()
    se, n = 0.0, 0
    with torch.no_grad():
        for u, i, r in loader:
            se += ((model(u, i).clamp(0.5, 5.0) - r) ** 2).sum().item()
            n += len(r)
    return math.sqrt(se / n)


def bias_baseline(train, test):
    """Global mean plus shrunken item offset."""
    _, i, r = train
    mu = r.mean()
    n_items = int(i.max()) + 1
    num = torch.zeros(n_items).index_add_(0, i, r - mu)
    cnt = torch.zeros(n_items).index_add_(0, i, torch.ones_like(r))
    off = num / (cnt + 5)
    return (mu + off[test[1]] - test[2]).pow(2).mean().sqrt().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=24)
    ap.add_argument("--batch-size", type=int, default=256)
    ap.add_argument("--dim", type=int, default=8)
    ap.add_argument("--lr", type=float, default=1.5)
    ap.add_argument("--step-size", type=int, default=10, help="epochs between drops of the rate")
    ap.add_argument("--gamma", type=float, default=0.2)
    ap.add_argument("--seed", type=int, default=11)
    cfg = ap.parse_args()

    torch.manual_seed(cfg.seed)
    n_users, n_items = 400, 250
    u, i, r = synth_ratings(n_users, n_items, 30000, cfg.seed)
    cut = 25000
    train = (u[:cut], i[:cut], r[:cut])
    test = (u[cut:], i[cut:], r[cut:])
    train_dl = DataLoader(TensorDataset(*train), batch_size=cfg.batch_size, shuffle=True)
    test_dl = DataLoader(TensorDataset(*test), batch_size=2048)

    model = Factors(n_users, n_items, cfg.dim, train[2].mean().item())
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg.lr, momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=cfg.step_size, gamma=cfg.gamma)
    loss_fn = nn.MSELoss()

    print(f"item-mean baseline RMSE {bias_baseline(train, test):.4f}")
    for epoch in range(1, cfg.epochs + 1):
        model.train()
        running = 0.0
        for bu, bi, br in train_dl:
            optimizer.zero_grad(set_to_none=True)
            loss = loss_fn(model(bu, bi), br)
            loss.backward()
            optimizer.step()
            running += loss.item()
        scheduler.step()
        if epoch % 3 == 0:
            print(f"epoch {epoch:3d}  train mse {running / len(train_dl):.4f}  test RMSE {rmse(model, test_dl):.4f}  "
                  f"lr {optimizer.param_groups[0]['lr']:.2g}")
    print(f"final test RMSE {rmse(model, test_dl):.4f}")


if __name__ == "__main__":
    main()
