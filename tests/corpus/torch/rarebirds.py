"""Spot the rare bird (about 3 % of the records) from twelve field measurements."""
import copy

import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import average_precision_score, f1_score
from torch.utils.data import DataLoader, TensorDataset


def records(n, seed):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.03).astype("float32")
    x = rng.normal(0, 1, (n, 12)).astype("float32")
    x[:, 0] += 2.2 * y
    x[:, 1] -= 1.8 * y
    x[:, 2] = np.where(y > 0, x[:, 3] * 0.9 + 0.3 * x[:, 2], x[:, 2])
    return torch.from_numpy(x), torch.from_numpy(y)


class FocalWeighted(nn.Module):
    def __init__(self, pos_weight, gamma=1.0):
        super().__init__()
        self.gamma = gamma
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, logits, y):
        ce = nn.functional.binary_cross_entropy_with_logits(logits, y, pos_weight=self.pos_weight, reduction="none")
        p = torch.sigmoid(logits)
        missed = torch.where(y > 0.5, 1 - p, p)
        return (missed ** self.gamma * ce).mean()


class SparseNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


def main():
    torch.manual_seed(9)
    xt, yt = records(8000, 0)
    xv, yv = records(3000, 1)
    model = SparseNet()
    loss_fn = FocalWeighted((yt == 0).sum() / yt.sum())
    opt = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-4)
    best, best_state, bad = 0.0, None, 0
    for epoch in range(20):
        model.train()
        losses = []
        for x, y in DataLoader(TensorDataset(xt, yt), batch_size=256, shuffle=True):
            opt.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            opt.step()
            losses.append(loss.item())
        model.eval()
        with torch.no_grad():
            prob = torch.sigmoid(model(xv)).numpy()
        ap = average_precision_score(yv.numpy(), prob)
        f1 = max(f1_score(yv.numpy(), prob > t) for t in np.linspace(0.3, 0.95, 14))
        print(f"{epoch:2d} loss {np.mean(losses):.4f} average precision {ap:.3f} best f1 {f1:.3f}")
        if ap > best:
            best, best_state, bad = ap, copy.deepcopy(model.state_dict()), 0
        else:
            bad += 1
            if bad == 5:
                break
    model.load_state_dict(best_state)
    print(f"kept the model with average precision {best:.3f} (base rate {yv.mean():.3f})")


if __name__ == "__main__":
    main()
