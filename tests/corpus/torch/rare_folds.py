from __future__ import annotations

import numpy as np
import torch
from sklearn.metrics import average_precision_score, f1_score, precision_recall_curve, roc_auc_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(31)
rng = np.random.default_rng(31)


def beats(n: int = 3600, rate: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    """windows of a pulse signal; the rare ones have one beat that comes early and is flat"""
    t = np.arange(96)
    y = (rng.random(n) < rate).astype(np.int64)
    out = np.empty((n, 1, 96), np.float32)
    for i in range(n):
        centers = rng.uniform(4, 12) + np.arange(5) * rng.uniform(17, 23)
        heights = rng.uniform(0.9, 1.3, 5)
        if y[i]:
            k = rng.integers(1, 4)
            centers[k] -= rng.uniform(4, 7)
            heights[k] *= 0.75
        pulse = sum(h * np.exp(-0.5 * ((t - c) / 1.8) ** 2) for c, h in zip(centers, heights))
        out[i, 0] = pulse + 0.22 * rng.standard_normal(96) + 0.3 * np.sin(t / 30 + rng.uniform(0, 6))
    return out, y


class Detector(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(1, 16, 9, stride=2), nn.GroupNorm(4, 16), nn.ReLU(),
            nn.Conv1d(16, 32, 7, stride=2), nn.GroupNorm(4, 32), nn.ReLU(),
            nn.Conv1d(32, 32, 9), nn.ReLU(),
        )
        self.score = nn.Linear(32, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.score(self.net(x).amax(-1)).squeeze(1)


def scores_of(model: nn.Module, x: torch.Tensor) -> np.ndarray:
    model.eval()
    with torch.inference_mode():
        return torch.cat([model(part) for part in x.split(512)]).double().numpy()


def train(x: torch.Tensor, y: torch.Tensor, epochs: int = 6) -> nn.Module:
    share = torch.bincount(y).float() / len(y)
    sampler = WeightedRandomSampler((0.5 / share)[y], num_samples=len(y), replacement=True)
    loader = DataLoader(TensorDataset(x, y.float()), batch_size=64, sampler=sampler, shuffle=False)
    model = Detector()
    opt = torch.optim.AdamW(model.parameters(), lr=4e-3)
    for epoch in range(epochs):
        model.train()
        running = 0.0
        for xb, yb in loader:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = model(xb)
            loss = nn.functional.binary_cross_entropy_with_logits(logits.float(), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            running += loss.item()
        for g in opt.param_groups:
            g["lr"] *= 0.8
        print(f"   epoch {epoch} loss {running / len(loader):.4f}")
    return model


x_np, y_np = beats()
print("windows:", x_np.shape, "rare:", int(y_np.sum()))
summary = []
for fold, (dev, test) in enumerate(StratifiedKFold(3, shuffle=True, random_state=0).split(x_np[:, 0], y_np)):
    tr, va = train_test_split(dev, test_size=0.25, stratify=y_np[dev], random_state=fold)
    mu, sd = x_np[tr].mean(), x_np[tr].std()
    x = torch.from_numpy((x_np - mu) / sd)
    model = train(x[tr], torch.from_numpy(y_np[tr]))
    p, r, cut = precision_recall_curve(y_np[va], scores_of(model, x[va]))
    best_cut = cut[np.argmax((2 * p * r / np.maximum(p + r, 1e-9))[:-1])]
    s = scores_of(model, x[test])
    row = (roc_auc_score(y_np[test], s), average_precision_score(y_np[test], s), f1_score(y_np[test], s >= best_cut))
    summary.append(row)
    print(f"fold {fold}: auc {row[0]:.3f}  average precision {row[1]:.3f}  f1 {row[2]:.3f}  cut {best_cut:.2f}")
print("mean auc %.3f  ap %.3f  f1 %.3f" % tuple(np.mean(summary, axis=0)), f"(rate {y_np.mean():.3f})")
