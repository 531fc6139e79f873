"""Rare weld defects (about 2 in 100): balanced sampler for training, natural rate for the test, threshold from validation."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler
from sklearn.metrics import average_precision_score, precision_recall_fscore_support

torch.manual_seed(6)


def welds(n, seed, rate=0.02):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < rate).astype(np.float32)
    x = rng.normal(size=(n, 1, 64)).astype(np.float32)
    at = rng.integers(6, 58, n)
    bump = np.array([0.5, 1.0, 2.0, -2.0, -1.0, -0.5], dtype=np.float32) * 1.6
    for i in np.flatnonzero(y):
        x[i, 0, at[i] - 3:at[i] + 3] += bump
    return torch.from_numpy(x), torch.from_numpy(y)


class WeldNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(1, 16, 7, padding=3), nn.ReLU(),
            nn.Conv1d(16, 16, 5, padding=2), nn.ReLU(), nn.AdaptiveMaxPool1d(1))
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(16, 1)

    def forward(self, x):
        return self.out(self.drop(self.conv(x).squeeze(-1))).squeeze(-1)


@torch.no_grad()
def scores(model, x):
    model.eval()
    return torch.cat([model(b) for b in x.split(1000)]).numpy()


xtr, ytr = welds(20000, 1)
xva, yva = welds(6000, 2)
xte, yte = welds(8000, 3)

per_class = torch.tensor([(ytr == 0).sum(), (ytr == 1).sum()], dtype=torch.double)
sampler = WeightedRandomSampler((1.0 / per_class)[ytr.long()], num_samples=12000, replacement=True)
loader = DataLoader(TensorDataset(xtr, ytr), batch_size=100, sampler=sampler)

model = WeldNet()
opt = torch.optim.Adam(model.parameters(), lr=1.5e-3)
for epoch in range(22):
    model.train()
    total = 0.0
    for x, y in loader:
        loss = nn.functional.binary_cross_entropy_with_logits(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"epoch {epoch} balanced loss {total / len(loader):.4f} val AP {average_precision_score(yva, scores(model, xva)):.3f}")

val = scores(model, xva)
grid = np.quantile(val, np.linspace(0.9, 0.999, 60))
f1 = [precision_recall_fscore_support(yva, val > t, average="binary", zero_division=0)[2] for t in grid]
cut = grid[int(np.argmax(f1))]
test = scores(model, xte)
p, r, f, _ = precision_recall_fscore_support(yte, test > cut, average="binary", zero_division=0)
print(f"test AP {average_precision_score(yte, test):.3f} precision {p:.3f} recall {r:.3f} F1 {f:.3f} (share of defects {yte.mean():.3f})")
