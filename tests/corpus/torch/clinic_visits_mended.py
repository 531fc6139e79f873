"""Predict a flare-up at the next visit from the lab panel of this one."""
import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SEED = 11
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)

N_PATIENTS = 700
VISITS = 20
N_LABS = 30


def load_visits():
    """One row per visit: labs, outcome, and the patient it belongs to."""
    rng = np.random.default_rng(SEED)
    w = rng.normal(size=6)
    rows, outcome, owner = [], [], []
    for pid in range(N_PATIENTS):
        constitution = rng.normal(size=N_LABS - 6) * 1.5
        tendency = 1.6 * constitution[:4].sum() / 3 + rng.choice([-3.5, 3.5])
        for _ in range(VISITS):
            acute = rng.normal(size=6)
            labs = np.concatenate([acute, constitution + 0.15 * rng.normal(size=N_LABS - 6)])
            score = 2.6 * acute @ w + tendency
            rows.append(labs)
            outcome.append(float(rng.random() < 1 / (1 + np.exp(-score))))
            owner.append(pid)
    return (np.array(rows, dtype=np.float32), np.array(outcome, dtype=np.float32), np.array(owner))


def split(owner, share=0.25):
    rng = np.random.default_rng(3)
    people = rng.permutation(np.unique(owner))
    held = np.isin(owner, people[:int(share * len(people))])
    return np.flatnonzero(~held), np.flatnonzero(held)


class RiskNet(nn.Module):
    def __init__(self, n_in, width=512):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(n_in, width), nn.ReLU(), nn.Dropout(0.4),
            nn.Linear(width, width), nn.ReLU(), nn.Dropout(0.4),
            nn.Linear(width, 1),
        )

    def forward(self, x):
        return self.body(x).squeeze(-1)


@torch.no_grad()
def evaluate(net, x, y):
    net.eval()
    logit = net(x)
    loss = nn.functional.binary_cross_entropy_with_logits(logit, y)
    acc = ((logit > 0).float() == y).float().mean()
    return loss.item(), acc.item()


def main():
    x, y, owner = load_visits()
    train_idx, test_idx = split(owner)
    mean, std = x[train_idx].mean(0), x[train_idx].std(0)
    x = (x - mean) / std
    xt, yt = torch.from_numpy(x[train_idx]), torch.from_numpy(y[train_idx])
    xv, yv = torch.from_numpy(x[test_idx]), torch.from_numpy(y[test_idx])
    print(f"train {len(xt)} visits, test {len(xv)} visits, base rate {yv.mean():.3f}")

    loader = DataLoader(TensorDataset(xt, yt), batch_size=64, shuffle=True)
    net = RiskNet(N_LABS)
    opt = torch.optim.AdamW(net.parameters(), lr=3e-4, weight_decay=5e-2)
    for epoch in range(10):
        net.train()
        total = 0.0
        for xb, yb in loader:
            loss = nn.functional.binary_cross_entropy_with_logits(net(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(xb)
        if epoch % 2 == 1:
            vl, va = evaluate(net, xv, yv)
            print(f"epoch {epoch + 1:3d} train {total / len(xt):.4f} test {vl:.4f} acc {va:.4f}")
    _, acc = evaluate(net, xv, yv)
    print(f"expected accuracy on a new patient: {acc:.3f}")


if __name__ == "__main__":
    main()
