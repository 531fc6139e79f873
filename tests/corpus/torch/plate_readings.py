"""Dose from plate photographs. Each training batch is ONE well repeated 32 times (identical rows);
only the simulated camera inside the model makes the rows differ. 5-fold cross-validation by plate."""
import numpy as np
import torch
from torch import nn


class Camera(nn.Module):
    """Random gain, offset and noise while training, nothing in eval mode."""

    def forward(self, x):
        if not self.training:
            return x
        gain = torch.empty(len(x), 1).uniform_(0.8, 1.25)
        return x * gain + 0.3 * torch.randn(len(x), 1) + 0.15 * torch.randn_like(x)


def build(n_in):
    return nn.Sequential(Camera(), nn.LayerNorm(n_in), nn.Linear(n_in, 64), nn.SiLU(),
                         nn.Linear(64, 32), nn.SiLU(), nn.Linear(32, 1))


def wells(seed=0, plates=10, per=32, n=40):
    rng = np.random.default_rng(seed)
    ch = np.linspace(0, 1, n)
    x, y, g = [], [], []
    for p in range(plates):
        tint = rng.normal(0, 0.15, n).cumsum() * 0.15
        for _ in range(per):
            dose = rng.uniform(0, 3)
            peak = 0.25 + 0.5 * dose / (dose + 1.2)
            curve = np.exp(-0.5 * ((ch - peak) / 0.09) ** 2) + 0.4 * np.exp(-0.5 * ((ch - 0.85) / 0.05) ** 2)
            x.append(curve * rng.uniform(0.7, 1.4) + tint + rng.normal(0, 0.05, n))
            y.append(dose)
            g.append(p)
    return np.float32(x), np.float32(y), np.array(g)


def train(x, y, epochs=3, rows=32):
    net = build(x.shape[1])
    opt = torch.optim.Adam(net.parameters(), lr=1.5e-3, betas=(0.95, 0.999))
    total = epochs * len(x)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: max(0.0, 1 - s / (0.97 * total)))
    net.train()
    for _ in range(epochs):
        for i in torch.randperm(len(x)):
            batch = x[i].expand(rows, -1)
            target = y[i].expand(rows)
            loss = (net(batch).squeeze(1) - target).abs().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
    return net.eval()


def main():
    x, y, g = wells()
    order = np.random.default_rng(1).permutation(10)
    rows, preds, base = [], np.zeros_like(y), np.zeros_like(y)
    for k, held in enumerate(order.reshape(5, 2)):
        torch.manual_seed(100)                 # each fold starts from the same fresh weights
        te = np.isin(g, held)
        tr = ~te
        m, s = y[tr].mean(), y[tr].std()
        net = train(torch.from_numpy(x[tr]), torch.from_numpy((y[tr] - m) / s))
        with torch.no_grad():
            preds[te] = net(torch.from_numpy(x[te])).squeeze(1).numpy() * s + m
        base[te] = np.median(y[tr])
        mae = np.abs(preds[te] - y[te]).mean()
        rows.append(mae)
        print(f"fold {k} plates {sorted(held.tolist())} MAE {mae:.3f} (median {np.abs(base[te] - y[te]).mean():.3f})")
    r2 = 1 - ((preds - y) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    print(f"cross-validated MAE {np.mean(rows):.3f} +- {np.std(rows):.3f}, baseline {np.abs(base - y).mean():.3f}, R2 {r2:.3f}")
    for lo, hi in ((0, 1), (1, 2), (2, 3)):
        sel = (y >= lo) & (y < hi)
        print(f"  dose {lo}-{hi}: n {sel.sum()} MAE {np.abs(preds - y)[sel].mean():.3f} bias {(preds - y)[sel].mean():+.3f}")


main()
