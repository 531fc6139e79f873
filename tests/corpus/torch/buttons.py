"""Sort photographs of buttons by their number of holes and their outline."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SIZE = 24
CLASSES = [(shape, holes) for shape in ("round", "square") for holes in (0, 1, 2, 4)]


def photograph(shape, holes, g):
    yy, xx = torch.meshgrid(torch.arange(SIZE).float(), torch.arange(SIZE).float(), indexing="ij")
    cx, cy = 11.5 + 2 * (torch.rand(2, generator=g) - 0.5)
    r = 8 + 1.5 * torch.rand(1, generator=g)
    dx, dy = xx - cx, yy - cy
    body = (dx ** 2 + dy ** 2 < r ** 2) if shape == "round" else (torch.maximum(dx.abs(), dy.abs()) < r * 0.9)
    image = body.float()
    places = {0: [], 1: [(0, 0)], 2: [(-3, 0), (3, 0)], 4: [(-3, -3), (3, -3), (-3, 3), (3, 3)]}[holes]
    for px, py in places:
        image[((dx - px) ** 2 + (dy - py) ** 2) < 3.0] = 0
    return (image + 0.15 * torch.randn(SIZE, SIZE, generator=g)).unsqueeze(0)


class ButtonFolder(Dataset):
    """Pictures of buttons with their class."""

    def __init__(self, per_class, seed):
        g = torch.Generator().manual_seed(seed)
        self.samples = []
        for label, (shape, holes) in enumerate(CLASSES):
            for _ in range(per_class):
                self.samples.append((photograph(shape, holes, g), label))

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        image, label = self.samples[i]
        return (image - 0.45) / 0.5, label


class ButtonNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 16, 3, padding=1)
        self.c2 = nn.Conv2d(16, 32, 3, padding=1)
        self.fc1 = nn.Linear(32 * 6 * 6, 64)
        self.fc2 = nn.Linear(64, len(CLASSES))

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.c1(x)), 2)
        x = F.max_pool2d(F.relu(self.c2(x)), 2)
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


if __name__ == "__main__":
    torch.manual_seed(0)
    train_loader = DataLoader(ButtonFolder(150, 1), batch_size=32, num_workers=0)
    test_loader = DataLoader(ButtonFolder(40, 2), batch_size=64, num_workers=0)
    net = ButtonNet()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.03, momentum=0.9)
    for epoch in range(8):
        net.train()
        seen = total = 0
        for images, labels in train_loader:
            loss = F.cross_entropy(net(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(labels)
            seen += len(labels)
        net.eval()
        with torch.no_grad():
            hits = sum((net(images).argmax(1) == labels).sum().item() for images, labels in test_loader)
        print(f"epoch {epoch + 1}: loss {total / seen:.4f}  test accuracy {hits / len(test_loader.dataset):.3f}")
