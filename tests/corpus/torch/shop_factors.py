import numpy as np
import torch
import torch.nn as nn

rng = np.random.default_rng(40)
torch.manual_seed(40)
U, I, K = 400, 300, 6
pu, qi = rng.normal(size=(U, K)), rng.normal(size=(I, K))
bu, bi = rng.normal(0, .5, U), rng.normal(0, .5, I)
u = rng.integers(0, U, 60000)
i = rng.integers(0, I, 60000)
r = (pu[u] * qi[i]).sum(1) / np.sqrt(K) + bu[u] + bi[i] + rng.normal(0, .2, len(u))
u, i, r = torch.tensor(u), torch.tensor(i), torch.tensor(r, dtype=torch.float32)
cut = 54000


class Factors(nn.Module):
    def __init__(self, k=8):
        super().__init__()
        self.u = nn.Embedding(U, k, sparse=True)
        self.i = nn.Embedding(I, k, sparse=True)
        nn.init.normal_(self.u.weight, std=0.3)
        nn.init.normal_(self.i.weight, std=0.3)
        self.bu = nn.Parameter(torch.zeros(U))
        self.bi = nn.Parameter(torch.zeros(I))
        self.mu = nn.Parameter(torch.zeros(()))

    def forward(self, u, i):
        return (self.u(u) * self.i(i)).sum(-1) + self.bu[u] + self.bi[i] + self.mu


m = Factors()
sparse = torch.optim.SparseAdam([m.u.weight, m.i.weight], lr=5e-3)
dense = torch.optim.SGD([{"params": [m.bu, m.bi], "lr": 10.0}, {"params": [m.mu], "lr": 0.05}])
MICRO, ACC = 128, 2

for ep in range(15):
    parts = torch.randperm(cut)[: cut - cut % (MICRO * ACC)].split(MICRO)
    tot = 0.0
    for n, j in enumerate(parts):
        p = m(u[j], i[j])
        loss = (p - r[j]).pow(2).mean()
        reg = 2e-3 * (m.u(u[j]).pow(2).sum(-1) + m.i(i[j]).pow(2).sum(-1)).mean()
        ((loss + reg) / ACC).backward()
        tot += loss.item()
        if (n + 1) % ACC == 0:
            sparse.step()
            dense.step()
            sparse.zero_grad()
            dense.zero_grad()
    with torch.no_grad():
        v = (m(u[cut:], i[cut:]) - r[cut:]).pow(2).mean().sqrt().item()
    print(f"ep {ep:2d} train_mse {tot / len(parts):.4f} val_rmse {v:.4f} (spread {r.std().item():.3f})")
