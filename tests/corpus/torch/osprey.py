import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SIZE = 32
SHAPES = ("square", "disc", "plus", "frame")


class ShapesDataset(Dataset):
    """Grey images with one object; target: kind of object and its box (x, y, w, h)."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        grid = torch.arange(SIZE).float()
        self.images, self.kinds, self.boxes = [], [], []
        for _ in range(n):
            kind = int(torch.randint(len(SHAPES), (1,), generator=g))
            r = float(torch.randint(4, 8, (1,), generator=g))
            cx, cy = (r + (SIZE - 2 * r) * torch.rand(2, generator=g)).tolist()
            dx, dy = (grid[None, :] - cx).abs(), (grid[:, None] - cy).abs()
            inside = (dx <= r) & (dy <= r)
            if kind == 1:
                inside = dx ** 2 + dy ** 2 <= r ** 2
            elif kind == 2:
                inside &= (dx <= r / 3) | (dy <= r / 3)
            elif kind == 3:
                inside &= (dx >= r - 2) | (dy >= r - 2)
            self.images.append(inside.float() + 0.15 * torch.randn(SIZE, SIZE, generator=g))
            self.kinds.append(kind)
            self.boxes.append(torch.tensor([cx, cy, 2 * r, 2 * r]))

    def __len__(self):
        return len(self.kinds)

    def __getitem__(self, i):
        return self.images[i][None], self.kinds[i], self.boxes[i]


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        layers, cin = [], 1
        for cout in (12, 24, 32):
            layers += [nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(), nn.MaxPool2d(2)]
            cin = cout
        self.trunk = nn.Sequential(*layers, nn.Flatten(), nn.Linear(32 * 16, 96), nn.ReLU())
        self.kind = nn.Linear(96, len(SHAPES))
        self.box = nn.Linear(96, 4)

    def forward(self, x):
        h = self.trunk(x)
        return self.kind(h), self.box(h)


def train_one_epoch(model, loader, optimizer, scheduler):
    model.train()
    total = 0.0
    for images, kinds, boxes in loader:
        kind_logits, box_pred = model(images)
        cls_loss = F.cross_entropy(kind_logits, kinds)
        box_loss = F.mse_loss(box_pred, boxes)
        loss = cls_loss + box_loss
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        optimizer.step()
        scheduler.step()
        total += loss.item()
    return total / len(loader)


def validate(model, loader):
    model.eval()
    correct, error, n = 0, 0.0, 0
    with torch.no_grad():
        for images, kinds, boxes in loader:
            kind_logits, box_pred = model(images)
            correct += (kind_logits.argmax(1) == kinds).sum().item()
            error += (box_pred - boxes).abs().mean(1).sum().item()
            n += len(kinds)
    return correct / n, error / n


def main():
    torch.manual_seed(0)
    epochs = 8
    train_loader = DataLoader(ShapesDataset(1600, 0), batch_size=32, shuffle=True)
    valid_loader = DataLoader(ShapesDataset(400, 1), batch_size=100)
    model = Detector()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * len(train_loader))
    for epoch in range(1, epochs + 1):
        loss = train_one_epoch(model, train_loader, optimizer, scheduler)
        acc, err = validate(model, valid_loader)
        print(f"epoch {epoch}: loss {loss:.3f}, kind accuracy {acc:.3f}, box error {err:.2f}")


if __name__ == "__main__":
    main()
