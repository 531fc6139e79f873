"""Orchard blocks: predict the variety (class) and the yield (tonnes) from drone features, one shared trunk."""
import numpy as np
import torch
import torch.nn as nn

rng = np.random.default_rng(8)
torch.manual_seed(8)

N, D, VARIETIES = 5000, 20, 5
mix = rng.normal(size=(VARIETIES, D))
variety = rng.integers(0, VARIETIES, N)
X = mix[variety] + rng.normal(size=(N, D))
w1, w2 = rng.normal(size=D) / np.sqrt(D), rng.normal(size=D) / np.sqrt(D)
tonnes = 1.5 * (X @ w1) + np.abs(X @ w2) + 0.4 * variety + 0.1 * rng.normal(size=N)
tonnes = (tonnes - tonnes.mean()) / tonnes.std()

X = torch.tensor(X, dtype=torch.float32)
variety = torch.tensor(variety)
tonnes = torch.tensor(tonnes, dtype=torch.float32)
cut = 4000


class OrchardNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(D, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.variety_head = nn.Linear(64, VARIETIES)
        self.yield_head = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        h = self.trunk(x)
        return self.variety_head(h), self.yield_head(h).squeeze(-1)


class Objective:
    def __init__(self, yield_weight=1.0):
        self.yield_weight = yield_weight
        self.ce = nn.CrossEntropyLoss()
        self.huber = nn.SmoothL1Loss()
        self.history = []

    def parts(self, out, y_var, y_ton):
        logits, ton = out
        return {"variety": self.ce(logits, y_var), "yield": self.huber(ton, y_ton)}

    def __call__(self, out, y_var, y_ton):
        p = self.parts(out, y_var, y_ton)
        self.history.append({k: float(v) for k, v in p.items()})
        return p["variety"] + self.yield_weight * p["yield"]

    def epoch_means(self):
        means = {k: np.mean([h[k] for h in self.history]) for k in self.history[0]}
        self.history = []
        return means


net = OrchardNet()
objective = Objective(yield_weight=2.0)
opt = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=1e-3)

for epoch in range(25):
    net.train()
    for idx in torch.randperm(cut).split(32):
        opt.zero_grad()
        loss = objective(net(X[idx]), variety[idx], tonnes[idx])
        loss.backward()
        opt.step()
    m = objective.epoch_means()
    if epoch % 4 == 0:
        print(f"epoch {epoch:2d} variety {m['variety']:.3f} yield {m['yield']:.3f}")

net.eval()
with torch.no_grad():
    logits, ton = net(X[cut:])
acc = (logits.argmax(1) == variety[cut:]).float().mean().item()
r2 = 1 - ((ton - tonnes[cut:]) ** 2).mean() / tonnes[cut:].var()
print(f"held-out variety accuracy {acc:.3f}, yield R2 {r2.item():.3f}")
