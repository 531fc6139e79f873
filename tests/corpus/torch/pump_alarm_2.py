import argparse
import math

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler


def vibration(n, rate, rng):
    """128-sample vibration windows; about 3 % carry a bearing knock."""
    t = np.arange(128)
    y = (rng.random(n) < rate).astype("float32")
    x = np.empty((n, 1, 128), "float32")
    for i in range(n):
        f = rng.uniform(0.2, 0.5)
        sig = np.sin(f * t + rng.uniform(0, 6.28)) + rng.normal(0, 0.5, 128)
        if y[i]:
            start, gap = rng.integers(0, 12), rng.integers(14, 22)
            for k in range(start, 120, gap):
                sig[k:k + 6] += 0.6 * np.array([1, -1, 0.8, -0.8, 0.5, -0.5])
        x[i, 0] = sig
    return torch.from_numpy(x), torch.from_numpy(y)


class KnockNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, width, 7, padding=3), nn.BatchNorm1d(width), nn.ReLU(), nn.MaxPool1d(4),
            nn.Conv1d(width, 2 * width, 5, padding=2), nn.BatchNorm1d(2 * width), nn.ReLU(),
            nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Dropout(0.2))
        self.score = nn.Linear(2 * width, 1)

    def forward(self, x):
        return self.score(self.features(x)).squeeze(1)


def average_precision(y, s):
    y = y[np.argsort(-s)]
    prec = np.cumsum(y) / np.arange(1, len(y) + 1)
    return float((prec * y).sum() / y.sum())


def scores(model, x):
    model.eval()
    with torch.no_grad():
        return torch.cat([model(xb) for xb in x.split(500)])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--rate", type=float, default=0.03)
    p.add_argument("--boost", type=float, default=0.25, help="share of knocks in a training batch")
    a = p.parse_args()
    torch.manual_seed(1)
    rng = np.random.default_rng(1)
    x, y = vibration(6000, a.rate, rng)
    xv, yv = vibration(2500, a.rate, rng)
    xt, yt = vibration(2500, a.rate, rng)

    w = torch.where(y == 1, a.boost / y.sum(), (1 - a.boost) / (1 - y).sum())
    loader = DataLoader(TensorDataset(x, y), 100, sampler=WeightedRandomSampler(w, len(y)))

    model = KnockNet()
    nn.init.constant_(model.score.bias, math.log(a.boost / (1 - a.boost)))
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, 5e-3, total_steps=a.epochs * len(loader))
    loss_fn = nn.BCEWithLogitsLoss()

    # resampling shifts the log odds by a known amount, taken off again for reading probabilities
    true_rate = y.mean().item()
    shift = math.log(a.boost / (1 - a.boost)) - math.log(true_rate / (1 - true_rate))
    for ep in range(a.epochs):
        model.train()
        tot = 0.0
        for xb, yb in loader:
            loss = loss_fn(model(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            tot += loss.item()
        s = scores(model, xv)
        print(f"epoch {ep + 1} loss {tot / len(loader):.4f} val loss {loss_fn(s - shift, yv):.4f} "
              f"val AP {average_precision(yv.numpy(), s.numpy()):.3f}")

    grid = torch.linspace(-4, 4, 81)
    f1 = lambda s, t, y: 2 * ((s > t) * y).sum() / ((s > t).sum() + y.sum())
    sv, st = scores(model, xv), scores(model, xt)
    cut = max(grid, key=lambda t: f1(sv, t, yv))
    print(f"cut {cut:.1f} (from val)  test F1 {f1(st, cut, yt):.3f}  "
          f"test AP {average_precision(yt.numpy(), st.numpy()):.3f}  all-quiet accuracy {1 - yt.mean():.3f}")


if __name__ == "__main__":
    main()
