import math
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
gen = np.random.default_rng(1)


def draw_leaf(kind):
    """24x24 silhouettes in polar form, with kind lobes."""
    yy, xx = np.mgrid[-1:1:24j, -1:1:24j]
    r, th = np.hypot(xx, yy), np.arctan2(yy, xx)
    phase = gen.uniform(0, 2 * math.pi)
    edge = 0.6 + 0.22 * np.cos(kind * (th - phase))
    img = 1 / (1 + np.exp((r - edge * gen.uniform(0.8, 1.1)) * 14))
    return (img - 0.35) / 0.45 + gen.normal(0, 0.25, img.shape)


def build(n):
    kinds = gen.integers(2, 6, n)
    x = np.stack([draw_leaf(k) for k in kinds])[:, None]
    return torch.tensor(x, dtype=torch.float32), torch.tensor(kinds - 2)


class LeafNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.Flatten(),
        )
        self.head = nn.Sequential(nn.Linear(32 * 36, 64), nn.ReLU(), nn.Linear(64, 4))

    def forward(self, x):
        return self.head(self.body(x))


class Runner:
    def __init__(self, epochs=5, bs=64, peak=0.05):
        xtr, ytr = build(4000)
        xva, yva = build(500)
        self.train_set = TensorDataset(xtr, ytr)
        self.loader = DataLoader(self.train_set, bs, shuffle=True, drop_last=True)
        self.val = (xva, yva)
        self.net = LeafNet()
        self.epochs = epochs
        self.opt = torch.optim.SGD(self.net.parameters(), lr=peak / 25, momentum=0.9, weight_decay=1e-4)
        self.sched = torch.optim.lr_scheduler.OneCycleLR(
            self.opt, max_lr=peak, total_steps=epochs * len(self.train_set), pct_start=0.3)
        self.loss = nn.CrossEntropyLoss()

    def epoch(self):
        self.net.train()
        run = 0.0
        for x, y in self.loader:
            self.opt.zero_grad(set_to_none=True)
            l = self.loss(self.net(x), y)
            l.backward()
            self.opt.step()
            self.sched.step()
            run += l.item()
        return run / len(self.loader)

    @torch.no_grad()
    def score(self):
        self.net.eval()
        x, y = self.val
        return (self.net(x).argmax(1) == y).float().mean().item()

    def fit(self):
        for e in range(self.epochs):
            l = self.epoch()
            print(f"[{e}] loss={l:.4f} val={self.score():.3f} lr={self.sched.get_last_lr()[0]:.5f}")


if __name__ == "__main__":
    Runner().fit()
