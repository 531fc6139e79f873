import math
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(21)
rng = np.random.default_rng(21)

# curves described by four discrete attributes <-> captions with one word each
TREND = ["rising", "falling", "flat", "bumpy"]
FREQ = ["calm", "steady", "quick", "frantic"]
NOISE = ["clean", "rough", "dirty"]
LEVEL = ["low", "mid", "high", "top"]
WORDS = TREND + FREQ + NOISE + LEVEL + ["a", "curve", "that", "is", "and", "very"]
W = {w: i for i, w in enumerate(WORDS)}
ALL = [(a, b, c, d) for a in range(4) for b in range(4) for c in range(3) for d in range(4)]


def curve(a, b, c, d):
    t = np.linspace(0, 1, 64)
    base = [1.5 * t, -1.5 * t, 0 * t, np.exp(-((t - .5) / .15) ** 2) * 1.5][a]
    y = base + 0.4 * np.sin(2 * np.pi * [1, 3, 6, 12][b] * t + rng.uniform(0, 6.28))
    y = y + rng.normal(0, [0.02, 0.15, 0.35][c], 64) + [-2, -.7, .7, 2][d]
    return y


def caption(a, b, c, d):
    core = [TREND[a], FREQ[b], NOISE[c], LEVEL[d]]
    rng.shuffle(core)
    extra = list(rng.choice(["a", "curve", "that", "is", "and", "very"], 3))
    return [W[w] for w in ["a", "curve"] + core + extra]


def batch(n):
    pick = rng.choice(len(ALL), n, replace=False)
    xs = np.stack([curve(*ALL[p]) for p in pick])
    cs = np.array([caption(*ALL[p]) for p in pick])
    return torch.tensor(xs, dtype=torch.float32), torch.tensor(cs)


class TwoTower(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.curve_enc = nn.Sequential(
            nn.Unflatten(1, (1, 64)), nn.Conv1d(1, 32, 7, stride=2, padding=3), nn.ReLU(),
            nn.Conv1d(32, 64, 5, stride=2, padding=2), nn.ReLU(), nn.Flatten(), nn.Linear(64 * 16, 128),
            nn.ReLU(), nn.Linear(128, dim))
        self.text_emb = nn.EmbeddingBag(len(WORDS), 64, mode="mean")
        self.text_enc = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, dim))
        self.log_scale = nn.Parameter(torch.zeros(()))

    def forward(self, x, c):
        u = F.normalize(self.curve_enc(x), dim=-1)
        v = F.normalize(self.text_enc(self.text_emb(c)), dim=-1)
        return self.log_scale.exp().clamp(max=100) * u @ v.t()


model = TwoTower()
towers = [model.curve_enc, model.text_emb, model.text_enc]
groups = [{"params": m.parameters(), "lr": 1e-3} for m in towers] + [{"params": [model.log_scale], "lr": 1e-2}]
opt = torch.optim.Adam(groups)

STEPS = 1200
for s in range(STEPS):
    x, c = batch(96)
    logits = model(x, c)
    y = torch.arange(len(x))
    loss = 0.5 * (F.cross_entropy(logits, y) + F.cross_entropy(logits.t(), y))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if s % 150 == 0 or s == STEPS - 1:
        with torch.no_grad():
            xv, cv = batch(192)
            acc = (model(xv, cv).argmax(1) == torch.arange(192)).float().mean()
        print(f"step {s:4d} loss {loss.item():.3f} (chance {math.log(96):.3f}) "
              f"retrieval {acc:.3f} scale {model.log_scale.exp().item():.2f}")
