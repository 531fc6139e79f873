import argparse

import numpy as np
import torch
from sklearn.metrics import average_precision_score, recall_score, roc_auc_score
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def record_machines(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3, 40)).astype("float32")
    y = (rng.random(n) < 0.02).astype("float32")
    for i in np.flatnonzero(y):
        start = rng.integers(0, 28)
        bump = np.hanning(12) * rng.uniform(0.9, 1.9)
        x[i, 0, start:start + 12] += bump
        x[i, 1, start:start + 12] -= bump
    return torch.from_numpy(x), torch.from_numpy(y)


class AlarmNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(3, 16, 7, padding=3), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(16, 16, 5, padding=2), nn.ReLU(), nn.AdaptiveMaxPool1d(1), nn.Flatten(),
        )
        self.drop = nn.Dropout(0.2)
        self.out = nn.Linear(16, 1)

    def forward(self, x):
        return self.out(self.drop(self.conv(x))).squeeze(1)


def scores(model, x):
    model.eval()
    with torch.no_grad():
        p = torch.sigmoid(model(x)).numpy()
    model.train()
    return p


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--lr", type=float, default=2e-3)
    args = parser.parse_args()
    torch.manual_seed(6)

    x_tr, y_tr = record_machines(8000, 1)
    x_va, y_va = record_machines(3000, 2)
    x_te, y_te = record_machines(4000, 3)
    model = AlarmNet()
    weight = (len(y_tr) - y_tr.sum()) / y_tr.sum()
    print(f"positives {int(y_tr.sum())} of {len(y_tr)}, weight {weight:.1f}")
    criterion = nn.BCEWithLogitsLoss(pos_weight=weight)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, mode="max", factor=0.5, patience=2)
    loader = DataLoader(TensorDataset(x_tr, y_tr), batch_size=128, shuffle=True)

    for epoch in range(args.epochs):
        total = 0.0
        for xb, yb in loader:
            opt.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            opt.step()
            total += loss.item()
        ap = average_precision_score(y_va, scores(model, x_va))
        sched.step(ap)
        print(f"epoch {epoch + 1}: loss {total / len(loader):.3f} val AP {ap:.3f}")

    p = scores(model, x_te)
    alarm = p > 0.5
    print(f"test accuracy {(alarm == (y_te.numpy() > 0.5)).mean():.3f}, "
          f"always-no accuracy {1 - y_te.mean().item():.3f}")
    print(f"test AP {average_precision_score(y_te, p):.3f} (base rate {y_te.mean().item():.3f}), "
          f"AUC {roc_auc_score(y_te, p):.3f}, recall {recall_score(y_te, alarm):.3f}")


if __name__ == "__main__":
    main()
