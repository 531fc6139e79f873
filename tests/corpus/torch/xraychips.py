import argparse

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--lr", type=float, default=2e-3)
args = parser.parse_args()
torch.manual_seed(11)


def make_images(n):
    y = torch.randint(0, 5, (n,))
    x = torch.randn(n, 1, 16, 16) * 0.6
    for i in range(n):
        r, c = torch.randint(2, 9, (2,)).tolist()
        k = y[i].item()
        if k == 0:
            x[i, 0, r, c:c + 6] += 2
        elif k == 1:
            x[i, 0, r:r + 6, c] += 2
        elif k == 2:
            x[i, 0, r:r + 5, c:c + 5] += torch.eye(5) * 2
        elif k == 3:
            x[i, 0, r:r + 3, c:c + 3] += 1.6
        else:
            x[i, 0, r:r + 5, c:c + 5] += torch.eye(5).flip(0) * 2
    return x, y


class ChipNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        )
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(0.5), nn.Linear(32 * 16, 64), nn.ReLU(),
                                  nn.Dropout(0.5), nn.Linear(64, 5))

    def forward(self, x):
        return self.head(self.features(x))


def evaluate(model, loader):
    correct = total = 0
    with torch.no_grad():
        for x, y in loader:
            correct += (model(x).argmax(1) == y).sum().item()
            total += len(y)
    return correct / total


train_loader = DataLoader(TensorDataset(*make_images(2000)), batch_size=50, shuffle=True)
test_loader = DataLoader(TensorDataset(*make_images(400)), batch_size=4)
model = ChipNet()
optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
criterion = nn.CrossEntropyLoss()
for epoch in range(args.epochs):
    model.train()
    running = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item()
    print(f"epoch {epoch + 1} loss {running / len(train_loader):.3f} test acc {evaluate(model, test_loader):.3f}")
