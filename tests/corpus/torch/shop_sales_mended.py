"""Entity embeddings for shop sales: categorical fields plus two numeric columns -> log sales."""
import os
import time

import numpy as np
import torch
import torch.nn as nn
from sklearn.model_selection import train_test_split

rng = np.random.default_rng(2024)
torch.manual_seed(2024)

N_ROWS = 16000
FIELDS = {"shop": 150, "product": 250, "weekday": 7, "month": 12}


def simulate():
    cats = np.stack([rng.integers(0, k, N_ROWS) for k in FIELDS.values()], axis=1)
    shop, product, weekday, month = cats.T
    shop_level = rng.normal(0, 0.7, FIELDS["shop"])
    product_level = rng.normal(0, 0.9, FIELDS["product"])
    week = np.array([-0.2, -0.1, 0.0, 0.1, 0.3, 0.5, -0.6])
    season = rng.integers(0, 2, FIELDS["product"]) * 2 - 1
    price = rng.uniform(-1, 1, N_ROWS)
    promo = (rng.random(N_ROWS) < 0.2).astype(float)
    y = (shop_level[shop] + product_level[product] + week[weekday]
         + 0.4 * season[product] * np.cos(2 * np.pi * month / 12)
         - 0.5 * price + 0.4 * promo + rng.normal(0, 0.25, N_ROWS))
    nums = np.stack([price, promo], axis=1)
    return cats, nums.astype("float32"), y.astype("float32")


class EntityNet(nn.Module):
    def __init__(self, cardinalities, n_num, hidden=64):
        super().__init__()
        dims = [min(6, (c + 1) // 2) for c in cardinalities]
        self.embeds = nn.ModuleList([nn.Embedding(c, d) for c, d in zip(cardinalities, dims)])
        self.norm = nn.BatchNorm1d(n_num)
        self.mlp = nn.Sequential(
            nn.Linear(sum(dims) + n_num, hidden), nn.ReLU(),
            nn.Dropout(0.05),
            nn.Linear(hidden, 32), nn.ReLU(),
            nn.Linear(32, 1),
        )

    def forward(self, cats, nums):
        parts = [emb(cats[:, i]) for i, emb in enumerate(self.embeds)]
        z = torch.cat(parts + [self.norm(nums)], dim=1)
        return self.mlp(z).squeeze(1)


def batches(n, size, shuffle=True):
    order = torch.randperm(n) if shuffle else torch.arange(n)
    for i in range(0, n, size):
        yield order[i:i + size]


def rmse(model, cats, nums, y):
    model.eval()
    with torch.no_grad():
        return torch.sqrt(((model(cats, nums) - y) ** 2).mean()).item()


cats, nums, y = simulate()
idx_tr, idx_te = train_test_split(np.arange(N_ROWS), test_size=0.2, random_state=1)
idx_tr, idx_va = train_test_split(idx_tr, test_size=0.1, random_state=1)
T = lambda a, ix: torch.as_tensor(a[ix])
ctr, ntr, ytr = T(cats, idx_tr), T(nums, idx_tr), T(y, idx_tr)
cva, nva, yva = T(cats, idx_va), T(nums, idx_va), T(y, idx_va)
cte, nte, yte = T(cats, idx_te), T(nums, idx_te), T(y, idx_te)

model = EntityNet(list(FIELDS.values()), nums.shape[1])
opt = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=1e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=14)
mse = nn.MSELoss()

best, best_state = float("inf"), None
t0 = time.time()
for epoch in range(14):
    model.train()
    tot = 0.0
    for ix in batches(len(ytr), 128):
        opt.zero_grad()
        loss = mse(model(ctr[ix], ntr[ix]), ytr[ix])
        loss.backward()
        opt.step()
        tot += loss.item() * len(ix)
    sched.step()
    val = rmse(model, cva, nva, yva)
    if val < best:
        best = val
        best_state = {k: v.clone() for k, v in model.state_dict().items()}
    print(f"[{epoch:02d}] train mse {tot / len(ytr):.4f} | val rmse {val:.4f} | {time.time() - t0:.1f}s")

model.load_state_dict(best_state)
os.makedirs("out", exist_ok=True)
torch.save(best_state, "out/sales.pt")
print(f"test rmse {rmse(model, cte, nte, yte):.3f}  (predicting the mean: {yte.std().item():.3f})")
