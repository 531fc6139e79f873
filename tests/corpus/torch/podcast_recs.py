# Podcast recommender: sparse embedding tables with SparseAdam, dense part with AdamW on its own schedule.
import math
import random

import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)

USERS, SHOWS, RANK = 600, 400, 6
u_true = torch.randn(USERS, RANK)
s_true = torch.randn(SHOWS, RANK)
s_bias = 0.8 * torch.randn(SHOWS)


def interactions(n):
    u = torch.randint(0, USERS, (n,))
    s = torch.randint(0, SHOWS, (n,))
    score = (u_true[u] * s_true[s]).sum(1) * 1.2 + s_bias[s]
    return u, s, torch.bernoulli(torch.sigmoid(2 * score))


class Recommender(nn.Module):
    def __init__(self, dim=12):
        super().__init__()
        self.user = nn.Embedding(USERS, dim, sparse=True)
        self.show = nn.Embedding(SHOWS, dim, sparse=True)
        for table in (self.user, self.show):
            nn.init.normal_(table.weight, std=0.3)
        self.mlp = nn.Sequential(nn.Linear(3 * dim, 48), nn.ReLU(), nn.Linear(48, 1))

    def forward(self, u, s):
        a, b = self.user(u), self.show(s)
        return self.mlp(torch.cat([a, b, a * b], 1)).squeeze(1) + (a * b).sum(1)


def auc(score, label):
    order = score.argsort()
    rank = torch.empty_like(order)
    rank[order] = torch.arange(1, len(order) + 1)
    pos = label.sum()
    neg = len(label) - pos
    return ((rank[label == 1].sum() - pos * (pos + 1) / 2) / (pos * neg)).item()


model = Recommender()
tables = [model.user.weight, model.show.weight]
sparse_opt = torch.optim.SparseAdam(tables, lr=4e-3)
dense_opt = torch.optim.AdamW(model.mlp.parameters(), lr=2e-3, weight_decay=1e-2)

u, s, y = interactions(90000)
ut, st, yt = interactions(10000)
EPOCHS, BATCH = 14, 256
per_epoch = math.ceil(len(u) / BATCH)
dense_sched = torch.optim.lr_scheduler.LambdaLR(
    dense_opt, lambda k: min(1.0, (k + 1) / 100) * max(0.05, 1 - k / (EPOCHS * per_epoch)))

for epoch in range(EPOCHS):
    total = 0.0
    for idx in torch.randperm(len(u)).split(BATCH):
        loss = nn.functional.binary_cross_entropy_with_logits(model(u[idx], s[idx]), y[idx])
        sparse_opt.zero_grad()
        dense_opt.zero_grad()
        loss.backward()
        sparse_opt.step()
        dense_opt.step()
        dense_sched.step()
        total += loss.item() * len(idx)
    for group in sparse_opt.param_groups:
        group["lr"] *= 0.85
    with torch.no_grad():
        held = model(ut, st)
    print(f"epoch {epoch} loss {total / len(u):.4f} held-out auc {auc(held, yt):.4f}")
