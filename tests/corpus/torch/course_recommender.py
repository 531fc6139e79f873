"""Rating prediction for an online course site: embeddings + bias terms + small MLP."""
import logging

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("recsys")

N_USERS, N_ITEMS, N_RATINGS = 600, 300, 30000


def simulate(seed=5):
    rng = np.random.default_rng(seed)
    pu = rng.normal(0, 1, (N_USERS, 3))
    qi = rng.normal(0, 1, (N_ITEMS, 3))
    bu = rng.normal(0, 0.4, N_USERS)
    bi = rng.normal(0, 0.5, N_ITEMS)
    u = rng.integers(0, N_USERS, N_RATINGS)
    i = rng.integers(0, N_ITEMS, N_RATINGS)
    score = 3.4 + bu[u] + bi[i] + 0.45 * (pu[u] * qi[i]).sum(1) + rng.normal(0, 0.35, N_RATINGS)
    return TensorDataset(torch.from_numpy(u), torch.from_numpy(i),
                         torch.from_numpy(np.clip(score, 1, 5)).float())


class CourseNet(nn.Module):
    def __init__(self, dim=12, hidden=48):
        super().__init__()
        self.user_emb = nn.Embedding(N_USERS, dim)
        self.item_emb = nn.Embedding(N_ITEMS, dim)
        self.user_bias = nn.Embedding(N_USERS, 1)
        self.item_bias = nn.Embedding(N_ITEMS, 1)
        self.norm = nn.LayerNorm(2 * dim)
        self.mlp = nn.Sequential(nn.Linear(2 * dim, hidden), nn.ReLU(), nn.Dropout(0.1), nn.Linear(hidden, 1))
        self.global_bias = nn.Parameter(torch.tensor(3.0))
        for emb in (self.user_emb, self.item_emb):
            nn.init.normal_(emb.weight, std=0.1)
        nn.init.zeros_(self.user_bias.weight)
        nn.init.zeros_(self.item_bias.weight)

    def forward(self, u, i):
        pu, qi = self.user_emb(u), self.item_emb(i)
        dot = (pu * qi).sum(-1)
        deep = self.mlp(self.norm(torch.cat([pu, qi], -1))).squeeze(-1)
        return self.global_bias + self.user_bias(u).squeeze(-1) + self.item_bias(i).squeeze(-1) + dot + deep


def build_optimizer(model, lr=4e-3, weight_decay=0.02):
    skip = ("bias", "norm", "emb")
    params = model.named_parameters()
    decay = [p for n, p in params if not any(s in n for s in skip)]
    no_decay = [p for n, p in params if any(s in n for s in skip)]
    groups = [
        {"params": decay, "weight_decay": weight_decay},
        {"params": no_decay, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=lr)


@torch.no_grad()
def rmse(model, loader):
    model.eval()
    se = n = 0
    for u, i, r in loader:
        pred = model(u, i).clamp(1, 5)
        se += ((pred - r) ** 2).sum().item()
        n += len(r)
    return (se / n) ** 0.5


def main():
    torch.manual_seed(0)
    data = simulate()
    train, val, test = random_split(data, [24000, 3000, 3000])
    train_dl = DataLoader(train, batch_size=256, shuffle=True)
    val_dl, test_dl = DataLoader(val, batch_size=1000), DataLoader(test, batch_size=1000)

    ratings = data.tensors[2]
    mean = ratings[train.indices].mean()
    base = ((ratings[test.indices] - mean) ** 2).mean().sqrt().item()
    log.info("global mean baseline RMSE %.4f", base)

    model = CourseNet()
    optimizer = build_optimizer(model)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.85)
    for epoch in range(12):
        model.train()
        total = 0.0
        for u, i, r in train_dl:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(u, i), r)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(r)
        scheduler.step()
        log.info("epoch %d train mse %.4f val rmse %.4f", epoch, total / len(train), rmse(model, val_dl))
    log.info("test RMSE %.4f (baseline %.4f)", rmse(model, test_dl), base)


if __name__ == "__main__":
    main()
