"""Surface inspection of glazed tiles: find the few tiles with a hairline crack."""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import average_precision_score, roc_auc_score
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(11)
rng = np.random.default_rng(11)
SIZE = 24


def make_tiles(n, crack_rate=0.12):
    imgs = rng.normal(0.5, 0.08, size=(n, SIZE, SIZE)).astype(np.float32)
    shade = np.linspace(-0.1, 0.1, SIZE, dtype=np.float32)
    imgs += shade[None, :, None] * rng.uniform(-1, 1, size=(n, 1, 1)).astype(np.float32)
    flags = (rng.random(n) < crack_rate).astype(np.float32)
    for i in np.flatnonzero(flags):
        r, c = rng.integers(3, SIZE - 3, size=2)
        angle = rng.uniform(0, math.pi)
        for t in range(-7, 8):
            rr, cc = int(r + t * math.sin(angle)), int(c + t * math.cos(angle))
            if 0 <= rr < SIZE and 0 <= cc < SIZE:
                imgs[i, rr, cc] -= 0.35
    return imgs[:, None], flags


class TileNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1), nn.ReLU(), nn.AdaptiveMaxPool2d(1),
        )
        self.head = nn.Linear(2 * width, 1)
        self.reset_parameters()

    def reset_parameters(self, prior=0.01):
        # start from a realistic crack probability, as in the focal loss paper
        for m in self.modules():
            if isinstance(m, (nn.Conv2d, nn.Linear)):
                nn.init.kaiming_normal_(m.weight, nonlinearity="relu")
                nn.init.constant_(m.bias, -math.log((1 - prior) / prior))

    def forward(self, x):
        return self.head(self.body(x).flatten(1)).squeeze(1)


def focal_loss(logits, targets, alpha=0.6, gamma=2.0):
    bce = F.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    p_t = torch.exp(-bce)
    a_t = alpha * targets + (1 - alpha) * (1 - targets)
    return (a_t * (1 - p_t) ** gamma * bce).mean()


@torch.no_grad()
def score(model, loader):
    model.eval()
    probs, truth = [], []
    for x, y in loader:
        probs.append(torch.sigmoid(model(x)))
        truth.append(y)
    probs, truth = torch.cat(probs).numpy(), torch.cat(truth).numpy()
    return roc_auc_score(truth, probs), average_precision_score(truth, probs)


def main():
    xtr, ytr = make_tiles(3000)
    xva, yva = make_tiles(1000)
    mean, std = xtr.mean(), xtr.std()
    xtr, xva = (xtr - mean) / std, (xva - mean) / std
    train = DataLoader(TensorDataset(torch.from_numpy(xtr), torch.from_numpy(ytr)), batch_size=64, shuffle=True)
    valid = DataLoader(TensorDataset(torch.from_numpy(xva), torch.from_numpy(yva)), batch_size=250)

    model = TileNet()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(8):
        model.train()
        total = 0.0
        for x, y in train:
            opt.zero_grad()
            loss = focal_loss(model(x), y)
            loss.backward()
            opt.step()
            total += loss.item() * len(x)
        auc, ap = score(model, valid)
        print(f"epoch {epoch + 1}  loss {total / len(xtr):.4f}  val AUROC {auc:.3f}  val AP {ap:.3f}")


if __name__ == "__main__":
    main()
