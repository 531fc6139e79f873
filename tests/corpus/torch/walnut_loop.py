import numpy as np
import torch
from torch import nn

np.random.seed(7)
torch.manual_seed(7)

# flats: area, rooms, floor, age, distance to the centre, has lift
n = 4000
area = np.random.gamma(6, 12, n) + 15
rooms = np.clip(np.round(area / 25 + np.random.randn(n) * 0.6), 1, 8)
floor = np.random.randint(0, 12, n)
age = np.random.uniform(0, 110, n)
dist = np.random.exponential(5, n)
lift = (np.random.rand(n) < 0.4).astype(float)
log_price = (7.5 + 0.9 * np.log(area) - 0.06 * dist + 0.04 * rooms - 0.004 * age
             + 0.02 * floor * (2 * lift - 1) + 0.08 * np.random.randn(n))

X = np.stack([area, rooms, floor, age, dist, lift], 1).astype(np.float32)
y = log_price.astype(np.float32)
cut = 3200
X = (X - X[:cut].mean(0)) / X[:cut].std(0)
y = (y - y[:cut].mean()) / y[:cut].std()
Xtr, ytr = torch.tensor(X[:cut]), torch.tensor(y[:cut]).unsqueeze(1)
Xte, yte = torch.tensor(X[cut:]), torch.tensor(y[cut:]).unsqueeze(1)


def mlp(sizes):
    layers = []
    for i, (a, b) in enumerate(zip(sizes[:-1], sizes[1:])):
        layers.append(nn.Linear(a, b))
        layers.append(nn.ReLU())
    return nn.Sequential(*layers)


model = mlp([6, 64, 64, 1])
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=25)
loss_fn = nn.MSELoss()

for epoch in range(25):
    perm = torch.randperm(cut)
    for i in range(0, cut, 64):
        idx = perm[i:i + 64]
        opt.zero_grad()
        loss = loss_fn(model(Xtr[idx]), ytr[idx])
        loss.backward()
        opt.step()
    sched.step()
    if (epoch + 1) % 5 == 0:
        with torch.no_grad():
            tr, te = loss_fn(model(Xtr), ytr), loss_fn(model(Xte), yte)
        print(f"epoch {epoch + 1:2d}: train mse {tr:.4f}  test mse {te:.4f}  R2 {1 - te / yte.var():.3f}")
