# Moth wing patterns: learn a backbone on the coarse "family" labels, then
# reuse it for the small species set.
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 11
torch.manual_seed(SEED)
rng = np.random.RandomState(SEED)


def wing(kind):
    yy, xx = np.mgrid[0:24, 0:24] / 24.0
    ph = rng.uniform(0, 2 * np.pi)
    f = rng.uniform(2.6, 3.4)
    if kind == 0:
        img = np.sin(2 * np.pi * f * xx + ph)
    elif kind == 1:
        img = np.sin(2 * np.pi * f * yy + ph)
    elif kind == 2:
        img = np.sin(2 * np.pi * f * (xx + yy) + ph)
    elif kind == 3:
        img = np.sin(2 * np.pi * f * (xx - yy) + ph)
    elif kind == 4:
        r = np.hypot(xx - rng.uniform(.4, .6), yy - rng.uniform(.4, .6))
        img = np.sin(2 * np.pi * 2 * f * r + ph)
    else:
        img = np.sin(2 * np.pi * f * xx + ph) * np.sin(2 * np.pi * f * yy + ph)
    return (img + rng.normal(0, 0.5, img.shape)).astype("float32")


def make(n):
    species = rng.randint(0, 6, n)
    x = np.stack([wing(k) for k in species])[:, None]
    return torch.from_numpy(x), torch.from_numpy(species).long()


class WingNet(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 48, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(),
        )
        self.fc = nn.Linear(48 * 4, n_out)

    def forward(self, x):
        return self.fc(self.body(x))


def run_epoch(net, opt, x, y, bs=64):
    net.train()
    order = torch.randperm(len(x))
    tot = 0.0
    for i in range(0, len(x), bs):
        idx = order[i:i + bs]
        loss = F.cross_entropy(net(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(idx)
    return tot / len(x)


@torch.no_grad()
def accuracy(net, x, y):
    net.eval()
    return (net(x).argmax(1) == y).float().mean().item()


# ---- stage 1: families (0: stripes, 1: diagonals, 2: rings and checks)
x_big, sp_big = make(3000)
family = sp_big // 2
x_chk, sp_chk = make(600)
net = WingNet(3)
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for ep in range(6):
    loss = run_epoch(net, opt, x_big, family)
    print(f"[family] {ep} loss {loss:.3f} acc {accuracy(net, x_chk, sp_chk // 2):.3f}")

# ---- stage 2: species on a small labelled set, backbone kept as it is
x_tr, y_tr = make(600)
x_te, y_te = make(600)
for p in net.body.parameters():
    p.requires_grad = False
optimizer = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=1e-2)
net.fc = nn.Linear(net.fc.in_features, 6)

for ep in range(40):
    loss = run_epoch(net, optimizer, x_tr, y_tr)
    if ep % 5 == 4:
        print(f"[species] {ep} loss {loss:.3f} test acc {accuracy(net, x_te, y_te):.3f}")
