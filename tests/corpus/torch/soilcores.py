import copy
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

np.random.seed(4)
torch.manual_seed(4)

SOILS = ["clay", "silt", "sand", "loam", "peat", "chalk"]
DIM = 16
means = np.random.randn(len(SOILS), DIM) * 0.95


def cores(n):
    y = np.random.randint(0, len(SOILS), n)
    x = means[y] + np.random.randn(n, DIM)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


train_loader = DataLoader(TensorDataset(*cores(2000)), batch_size=50, shuffle=True)
val_loader = DataLoader(TensorDataset(*cores(400)), batch_size=8)


class SoilNet(nn.Module):
    def __init__(self, p=0.5):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(DIM, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(p),
            nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(p),
            nn.Linear(64, len(SOILS)),
        )

    def forward(self, x):
        return self.net(x)


def train_epoch(model, loader, optimizer, criterion):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
    return total / len(loader.dataset)


def evaluate(model, loader, criterion):
    total, correct = 0.0, 0
    with torch.no_grad():
        for x, y in loader:
            out = model(x)
            total += criterion(out, y).item() * len(y)
            correct += (out.argmax(1) == y).sum().item()
    return total / len(loader.dataset), correct / len(loader.dataset)


model = SoilNet()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
best, best_state = float("inf"), None

for epoch in range(15):
    train_loss = train_epoch(model, train_loader, optimizer, criterion)
    val_loss, val_acc = evaluate(model, val_loader, criterion)
    if val_loss < best:
        best, best_state = val_loss, copy.deepcopy(model.state_dict())
    print(f"{epoch:02d} train {train_loss:.4f} val {val_loss:.4f} acc {val_acc:.3f}")

model.load_state_dict(best_state)
print("best model:", evaluate(model, val_loader, criterion))
