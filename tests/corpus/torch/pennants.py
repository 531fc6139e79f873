from dataclasses import dataclass
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    num_classes: int = 20
    size: int = 16
    train_rows: int = 2000
    test_rows: int = 500
    batch_size: int = 64
    epochs: int = 8
    lr: float = 1e-3
    seed: int = 11


def draw_pennants(cfg, n, designs, generator):
    labels = torch.randint(0, cfg.num_classes, (n,), generator=generator)
    images = designs[labels]
    shift = torch.randint(-2, 3, (n,), generator=generator)
    images = torch.stack([img.roll(int(s), dims=-1) for img, s in zip(images, shift)])
    images = images + 0.35 * torch.randn(images.shape, generator=generator)
    return images, labels


class PennantNet(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.fc1 = nn.Linear(32 * 4 * 4, 64)
        self.fc2 = nn.Linear(64, num_classes)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = F.relu(self.fc1(x.flatten(1)))
        return F.softmax(self.fc2(x), dim=1)


def evaluate(model, loader):
    model.eval()
    right = total = 0
    with torch.no_grad():
        for x, y in loader:
            right += (model(x).argmax(1) == y).sum().item()
            total += len(y)
    return right / total


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    g = torch.Generator().manual_seed(cfg.seed)
    colours = torch.rand(cfg.num_classes, 3, 4, 4, generator=g) * 2 - 1
    designs = F.interpolate(colours, size=(cfg.size, cfg.size))
    train = TensorDataset(*draw_pennants(cfg, cfg.train_rows, designs, g))
    test = TensorDataset(*draw_pennants(cfg, cfg.test_rows, designs, g))
    train_loader = DataLoader(train, batch_size=cfg.batch_size, shuffle=True)
    test_loader = DataLoader(test, batch_size=cfg.batch_size)

    model = PennantNet(cfg.num_classes)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        model.train()
        running_loss = 0.0
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            running_loss += loss.item()
        print(f"Epoch {epoch + 1}/{cfg.epochs} loss: {running_loss / len(train_loader):.4f} "
              f"test acc: {evaluate(model, test_loader):.3f}")


if __name__ == "__main__":
    main()
