"""Sensor rows from pumps; about 4 % come from a pump with a failing valve."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def pump_rows(n, rng):
    y = (rng.random(n) < 0.04).astype(np.int64)
    x = rng.normal(size=(n, 10)).astype(np.float32)
    x[y == 1, :3] += 1.1
    x[y == 1, 3] += 0.9 * np.sign(x[y == 1, 4])
    return torch.from_numpy(x), torch.from_numpy(y)


def class_weights(y, n_classes=2):
    counts = torch.bincount(y, minlength=n_classes).float()
    w = counts / counts.sum()
    return w / w.mean()


class PumpNet(nn.Module):
    def __init__(self, d_in=10, hidden=48):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(d_in, hidden), nn.SiLU(),
                                    nn.Linear(hidden, hidden), nn.SiLU(),
                                    nn.Linear(hidden, 2))

    def forward(self, x):
        return self.layers(x)


class Fitter:
    def __init__(self, model, weights, lr):
        self.model = model
        self.criterion = nn.CrossEntropyLoss(weight=weights)
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)

    def fit_epoch(self, loader):
        self.model.train()
        losses = []
        for xb, yb in loader:
            self.opt.zero_grad()
            loss = self.criterion(self.model(xb), yb)
            loss.backward()
            self.opt.step()
            losses.append(loss.item())
        return float(np.mean(losses))

    @torch.no_grad()
    def report(self, x, y):
        self.model.eval()
        pred = self.model(x).argmax(1)
        recall = [(pred[y == c] == c).float().mean().item() for c in (0, 1)]
        return (pred == y).float().mean().item(), recall


def main():
    torch.manual_seed(8)
    rng = np.random.default_rng(8)
    x, y = pump_rows(40000, rng)
    xt, yt = pump_rows(8000, rng)
    fitter = Fitter(PumpNet(), class_weights(y), lr=1e-3)
    loader = DataLoader(TensorDataset(x, y), batch_size=128, shuffle=True)
    for epoch in range(15):
        loss = fitter.fit_epoch(loader)
        acc, (r0, r1) = fitter.report(xt, yt)
        print(f"{epoch:2d} loss {loss:.4f} acc {acc:.3f} recall ok {r0:.3f} failing {r1:.3f} "
              f"balanced {0.5 * (r0 + r1):.3f}")


main()
