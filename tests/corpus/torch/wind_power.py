import argparse
import numpy as np
import torch
from torch import nn
from sklearn.preprocessing import StandardScaler


def farm_records(n, seed):
    rng = np.random.default_rng(seed)
    speed = rng.weibull(2.0, n) * 8
    direction = rng.uniform(0, 2 * np.pi, n)
    density = rng.normal(1.22, 0.04, n)
    turbulence = rng.uniform(0.05, 0.25, n)
    curve = 1 / (1 + np.exp(-(speed - 8) / 1.4))
    power = 2000 * curve * density / 1.22 * (1 - 0.15 * np.cos(direction) ** 2)
    power += rng.normal(0, 1, n) * 30
    X = np.column_stack([speed, np.sin(direction), np.cos(direction), density, turbulence])
    return X, power


class Net(nn.Module):
    def __init__(self, d, width, p):
        super().__init__()
        self.f1 = nn.Linear(d, width)
        self.f2 = nn.Linear(width, width)
        self.f3 = nn.Linear(width, 1)
        self.drop = nn.Dropout(p)

    def forward(self, x):
        h = self.drop(torch.relu(self.f1(x)))
        h = self.drop(torch.relu(self.f2(h)))
        return self.f3(h).squeeze(-1)


def fit(net, X, y, epochs, lr, bs=128):
    opt = torch.optim.AdamW(net.parameters(), lr=lr, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=lr, total_steps=epochs * -(-len(X) // bs))
    for ep in range(epochs):
        tot = 0.0
        for b in torch.randperm(len(X)).split(bs):
            loss = nn.functional.mse_loss(net(X[b]), y[b])
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            sched.step()
            tot += loss.item() * len(b)
        if ep % 10 == 9:
            print(f"epoch {ep + 1}: mse {tot / len(X):.4f}")


def sample_predictions(net, X, passes):
    net.train()
    with torch.no_grad():
        draws = torch.stack([net(X) for _ in range(passes)])
    return draws.mean(0), draws.std(0)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--passes", type=int, default=100)
    ap.add_argument("--epochs", type=int, default=40)
    a = ap.parse_args()
    torch.manual_seed(9)
    X, p = farm_records(5000, 0)
    Xt, pt = farm_records(1500, 1)
    sx, sy = StandardScaler().fit(X), StandardScaler().fit(p[:, None])
    prep = lambda A: torch.tensor(sx.transform(A), dtype=torch.float32)
    y = torch.tensor(sy.transform(p[:, None]).ravel(), dtype=torch.float32)
    net = Net(X.shape[1], 128, 0.1)
    fit(net, prep(X), y, a.epochs, 4e-3)
    mean, std = sample_predictions(net, prep(Xt), a.passes)
    pred = mean.numpy() * sy.scale_[0] + sy.mean_[0]
    err = np.abs(pred - pt)
    r2 = 1 - ((pred - pt) ** 2).sum() / ((pt - pt.mean()) ** 2).sum()
    print(f"test MAE {err.mean():.1f} kW (mean predictor {np.abs(pt - p.mean()).mean():.1f}), R2 {r2:.3f}")
    print(f"mean spread of the samples {std.mean() * sy.scale_[0]:.1f} kW")


if __name__ == "__main__":
    main()
