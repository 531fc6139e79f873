import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split

STATES = ["idle", "normal", "cavitation", "leak"]


def window(state, rng, steps=40):
    t = np.arange(steps)
    pressure = 412000 + rng.normal(0, 900) + rng.normal(0, 250, steps)
    temp = 318 + rng.normal(0, 2) + rng.normal(0, 0.3, steps)
    rpm = np.full(steps, 2950.0) + rng.normal(0, 15, steps)
    vib = np.abs(rng.normal(0.020, 0.004, steps))
    if state == 0:
        rpm -= 1800
    elif state == 2:
        pressure += 1500 * np.sin(t * rng.uniform(0.8, 1.4) + rng.uniform(0, 6))
        vib += 0.02
    elif state == 3:
        pressure -= 90 * t
    return np.stack([pressure, temp, rpm, vib], axis=1)


def build(n, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, n)
    x = np.stack([window(s, rng) for s in labels])
    return torch.tensor(x, dtype=torch.float32), torch.tensor(labels)


class PumpNet(nn.Module):
    def __init__(self, n_features=4, hidden=48, n_classes=4):
        super().__init__()
        self.gru = nn.GRU(n_features, hidden, batch_first=True)
        self.head = nn.Linear(hidden, n_classes)

    def forward(self, x):
        _, h = self.gru(x)
        return self.head(h[-1])


def main():
    torch.manual_seed(21)
    x, y = build(1500, 21)
    print("windows", tuple(x.shape), "per state", torch.bincount(y).tolist())
    train, val = random_split(TensorDataset(x, y), [1200, 300])
    train_dl = DataLoader(train, batch_size=50, shuffle=True)
    val_dl = DataLoader(val, batch_size=200)

    model = PumpNet()
    optim = torch.optim.Adam(model.parameters(), lr=2e-3)
    ce = nn.CrossEntropyLoss()
    for epoch in range(1, 9):
        model.train()
        losses = []
        for xb, yb in train_dl:
            loss = ce(model(xb), yb)
            optim.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optim.step()
            losses.append(loss.item())
        model.eval()
        with torch.no_grad():
            hits = sum((model(xb).argmax(1) == yb).sum().item() for xb, yb in val_dl)
        print(f"epoch {epoch:2d}  loss {np.mean(losses):.3f}  val acc {hits / 300:.3f}")


if __name__ == "__main__":
    main()
