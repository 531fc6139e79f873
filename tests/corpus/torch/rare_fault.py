from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import average_precision_score, precision_recall_curve
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler


@dataclass
class Options:
    rows: int = 30000
    epochs: int = 6
    batch: int = 256
    lr: float = 0.05
    keep: float = 0.5


def machines(n, rng):
    x = rng.normal(size=(n, 12))
    score = 1.6 * x[:, 0] * x[:, 1] + 1.2 * x[:, 2] - 1.2 * np.abs(x[:, 3]) - 4.6
    y = rng.random(n) < 1 / (1 + np.exp(-1.6 * score))
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)


def sampler_for(y, keep):
    pos = y.mean()
    w = torch.where(y > 0.5, keep / pos, (1 - keep) / (1 - pos))
    return WeightedRandomSampler(w.double(), num_samples=len(y), replacement=True)


def fit(model, x, y, opt_cfg):
    loader = DataLoader(TensorDataset(x, y), opt_cfg.batch, shuffle=False, sampler=sampler_for(y, opt_cfg.keep))
    opt = torch.optim.SGD(model.parameters(), lr=opt_cfg.lr, momentum=0.9, weight_decay=1e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, opt_cfg.epochs * len(loader))
    for epoch in range(opt_cfg.epochs):
        model.train()
        total = 0.0
        for xb, yb in loader:
            loss = nn.functional.binary_cross_entropy_with_logits(model(xb).squeeze(1), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            total += loss.item()
        print(f"epoch {epoch} balanced loss {total / len(loader):.4f}")


def logits(model, x, prior, keep):
    model.eval()
    with torch.no_grad():
        raw = model(x).squeeze(1)
    shift = np.log(prior / (1 - prior)) - np.log(keep / (1 - keep))
    return (raw + shift).numpy()


def main():
    cfg = Options()
    rng = np.random.default_rng(17)
    torch.manual_seed(17)
    x, y = machines(cfg.rows, rng)
    xv, yv = machines(8000, rng)
    xt, yt = machines(12000, rng)
    model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1))
    fit(model, x, y, cfg)
    prior = y.mean().item()
    pv = 1 / (1 + np.exp(-logits(model, xv, prior, cfg.keep)))
    pt = 1 / (1 + np.exp(-logits(model, xt, prior, cfg.keep)))
    prec, rec, cut = precision_recall_curve(yv.numpy(), pv)
    best = cut[np.argmax(2 * prec[:-1] * rec[:-1] / (prec[:-1] + rec[:-1] + 1e-9))]
    truth = yt.numpy() > 0.5
    flag = pt >= best
    print(f"failure share {truth.mean():.4f}, mean predicted {pt.mean():.4f}")
    print(f"average precision {average_precision_score(truth, pt):.3f}")
    print(f"precision {truth[flag].mean():.3f} recall {flag[truth].mean():.3f} at {best:.3f}")


if __name__ == "__main__":
    main()
