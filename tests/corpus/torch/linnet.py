from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


@dataclass
class HParams:
    max_lr: float = 0.5
    momentum: float = 0.85
    decay: float = 2e-4
    batch: int = 96
    epochs: int = 10
    alpha: float = 0.3


class Residual(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a = nn.Conv2d(c, c, 3, padding=1, bias=False)
        self.b = nn.Conv2d(c, c, 3, padding=1, bias=False)
        self.na, self.nb = nn.BatchNorm2d(c), nn.BatchNorm2d(c)
        nn.init.zeros_(self.nb.weight)

    def forward(self, x):
        return F.relu(x + self.nb(self.b(F.relu(self.na(self.a(x))))))


class DigitNet(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Conv2d(1, 24, 3, padding=1, bias=False), nn.BatchNorm2d(24), nn.ReLU(), Residual(24), nn.MaxPool2d(2),
            nn.Conv2d(24, 48, 3, padding=1, bias=False), nn.BatchNorm2d(48), nn.ReLU(), Residual(48),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.BatchNorm1d(48, affine=False), nn.Linear(48, 10, bias=False))


def mixup(x, y, alpha, rng):
    lam = rng.beta(alpha, alpha)
    other = torch.randperm(len(x))
    targets = F.one_hot(y, 10).float()
    return lam * x + (1 - lam) * x[other], lam * targets + (1 - lam) * targets[other]


def jitter(x):
    dx, dy = torch.randint(-1, 2, (2,)).tolist()
    return torch.roll(x, (dy, dx), dims=(2, 3))


def train(model, x, y, hp, rng):
    plain = [p for p in model.parameters() if p.ndim == 1]
    matrices = [p for p in model.parameters() if p.ndim > 1]
    opt = torch.optim.SGD([{"params": matrices, "weight_decay": hp.decay}, {"params": plain, "weight_decay": 0.0}],
                          lr=hp.max_lr, momentum=hp.momentum, nesterov=True)
    steps = len(x) // hp.batch
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, hp.max_lr, epochs=hp.epochs, steps_per_epoch=steps,
                                                pct_start=0.3, cycle_momentum=False)
    for epoch in range(hp.epochs):
        model.train()
        losses = []
        order = torch.randperm(len(x))[: steps * hp.batch]
        for idx in order.split(hp.batch):
            xb, yb = mixup(jitter(x[idx]), y[idx], hp.alpha, rng)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = model(xb)
            loss = F.cross_entropy(logits.float(), yb)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            sched.step()
            losses.append(loss.item())
        yield epoch, float(np.mean(losses)), sched.get_last_lr()[0]


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def main():
    hp = HParams()
    torch.manual_seed(100)
    rng = np.random.default_rng(100)
    bunch = load_digits()
    x = torch.tensor(bunch.images, dtype=torch.float32).unsqueeze(1)
    y = torch.tensor(bunch.target)
    mix = torch.from_numpy(rng.permutation(len(x)))
    x, y = x[mix], y[mix]
    mean, std = x[:1400].mean(), x[:1400].std()
    x = ((x - mean) / std).contiguous(memory_format=torch.channels_last)
    model = DigitNet().to(memory_format=torch.channels_last)
    for epoch, loss, lr in train(model, x[:1400], y[:1400], hp, rng):
        print(f"epoch {epoch:2d} lr {lr:.3f} loss {loss:.3f} test accuracy {accuracy(model, x[1400:], y[1400:]):.3f}")


if __name__ == "__main__":
    main()
