import argparse

import numpy as np
import torch
import torch.nn as nn

parser = argparse.ArgumentParser(description="Will a card payment be disputed?")
parser.add_argument("--rows", type=int, default=12000)
parser.add_argument("--epochs", type=int, default=8)
parser.add_argument("--lr", type=float, default=1e-3)
parser.add_argument("--batch-size", type=int, default=128)
parser.add_argument("--val-share", type=float, default=0.25)
parser.add_argument("--seed", type=int, default=17)
opt = parser.parse_args()

rng = np.random.default_rng(opt.seed)
torch.manual_seed(opt.seed)


def load_payments(n):
    amount = rng.lognormal(3.5, 1.0, n)
    hour = rng.integers(0, 24, n)
    abroad = rng.random(n) < 0.15
    new_shop = rng.random(n) < 0.3
    rest = rng.normal(size=(n, 12))
    score = (0.9 * (np.log(amount) - 3.5) + 1.3 * abroad + 0.9 * new_shop
             + 0.5 * np.cos(hour / 24 * 2 * np.pi) + 0.4 * rest[:, 0] - 0.4 * rest[:, 1])
    y = (score + rng.logistic(0, 0.35, n) > 3.4).astype("float32")
    x = np.column_stack([np.log(amount), np.sin(hour / 24 * 2 * np.pi), np.cos(hour / 24 * 2 * np.pi),
                         abroad, new_shop, rest]).astype("float32")
    return x, y


def balance(x, y):
    pos, neg = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    extra = rng.choice(pos, size=len(neg) - len(pos), replace=True)
    idx = np.concatenate([neg, pos, extra])
    rng.shuffle(idx)
    return x[idx], y[idx]


def split(x, y, share):
    idx = rng.permutation(len(x))
    k = int(len(x) * share)
    return x[idx[k:]], y[idx[k:]], x[idx[:k]], y[idx[:k]]


def auc(y, s):
    order = np.argsort(s, kind="stable")
    ranks = np.empty(len(s))
    ranks[order] = np.arange(1, len(s) + 1)
    n1 = y.sum()
    n0 = len(y) - n1
    return (ranks[y == 1].sum() - n1 * (n1 + 1) / 2) / (n1 * n0)


x, y = load_payments(opt.rows)
print(f"{len(y)} payments, {y.mean():.3%} disputed")
xtr, ytr, xva, yva = split(x, y, opt.val_share)
xtr, ytr = balance(xtr, ytr)

mu, sd = xtr.mean(0), xtr.std(0)
xtr, xva = (xtr - mu) / sd, (xva - mu) / sd
xtr, ytr, xva = map(torch.from_numpy, (xtr, ytr, xva))

model = nn.Sequential(nn.Linear(x.shape[1], 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=opt.lr, weight_decay=1e-4)
bce = nn.BCEWithLogitsLoss()

for epoch in range(1, opt.epochs + 1):
    model.train()
    perm = torch.randperm(len(xtr))
    tot = 0.0
    for idx in perm.split(opt.batch_size):
        loss = bce(model(xtr[idx]).squeeze(1), ytr[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        tot += loss.item() * len(idx)
    model.eval()
    with torch.no_grad():
        s = model(xva).squeeze(1).numpy()
    hit = s > 0
    recall = hit[yva == 1].mean()
    prec = yva[hit].mean() if hit.any() else 0.0
    print(f"epoch {epoch:2d} loss {tot / len(xtr):.4f} | val auc {auc(yva, s):.3f} "
          f"recall {recall:.3f} precision {prec:.3f}")
print(f"validated on {len(yva)} payments, {yva.mean():.3%} disputed")
