"""One object per picture: say what it is and where it is."""
import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIZE = 32


@dataclass
class Config:
    width: int = 16
    epochs: int = 10
    batch_size: int = 32
    lr: float = 2e-3
    box_weight: float = 10.0


class Scenes(Dataset):
    """A bar lying, a bar standing or a filled block, anywhere in a noisy picture."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.images = 0.3 * torch.randn(n, 1, SIZE, SIZE, generator=g)
        self.labels = torch.randint(3, (n,), generator=g)
        self.boxes = torch.zeros(n, 4)
        for i, label in enumerate(self.labels.tolist()):
            long, short = [int(torch.randint(a, b, (1,), generator=g)) for a, b in ((9, 13), (3, 5))]
            h, w = [(short, long), (long, short), (long - 2, long - 2)][label]
            top = int(torch.randint(SIZE - h, (1,), generator=g))
            left = int(torch.randint(SIZE - w, (1,), generator=g))
            self.images[i, 0, top:top + h, left:left + w] += 1.0
            self.boxes[i] = torch.tensor([left, top, left + w, top + h]) / SIZE

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.images[i], self.labels[i], self.boxes[i]


class Detector(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        w = cfg.width
        self.trunk = nn.Sequential(
            nn.Conv2d(1, w, 3, padding=1), nn.BatchNorm2d(w), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(w, 2 * w, 3, padding=1), nn.BatchNorm2d(2 * w), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(2 * w, 2 * w, 3, padding=1), nn.BatchNorm2d(2 * w), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(2 * w * 16, 96), nn.ReLU(),
        )
        self.kind = nn.Linear(96, 3)
        self.box = nn.Linear(96, 4)

    def forward(self, x):
        h = self.trunk(x)
        return self.kind(h), self.box(h).sigmoid()


def iou(a, b):
    low = torch.maximum(a[:, :2], b[:, :2])
    high = torch.minimum(a[:, 2:], b[:, 2:])
    overlap = (high - low).clamp(min=0).prod(dim=1)
    area = lambda r: (r[:, 2:] - r[:, :2]).clamp(min=0).prod(dim=1)
    return overlap / (area(a) + area(b) - overlap).clamp(min=1e-6)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    hits, overlap, n = 0, 0.0, 0
    for x, label, box in loader:
        kind, where = model(x)
        hits += (kind.argmax(1) == label).sum().item()
        overlap += iou(where, box).sum().item()
        n += len(label)
    return hits / n, overlap / n


def save(path, model, cfg, epoch, score):
    torch.save({"config": cfg, "weights": model.state_dict(), "epoch": epoch, "score": score}, path)


def restore(path):
    state = torch.load(path, map_location="cpu")
    model = Detector(state["config"])
    model.load_state_dict(state["weights"])
    return model, state["epoch"]


def main():
    torch.manual_seed(6)
    cfg = Config()
    train = DataLoader(Scenes(1200, 1), batch_size=cfg.batch_size, shuffle=True)
    valid = DataLoader(Scenes(300, 2), batch_size=100)
    test = DataLoader(Scenes(300, 3), batch_size=100)
    model = Detector(cfg)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, cfg.epochs)

    with tempfile.TemporaryDirectory() as folder:
        path, best = Path(folder) / "detector.pt", 0.0
        for epoch in range(1, cfg.epochs + 1):
            model.train()
            total = 0.0
            for x, label, box in train:
                kind, where = model(x)
                loss = F.cross_entropy(kind, label) + cfg.box_weight * F.smooth_l1_loss(where, box, beta=0.1)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += loss.item()
            scheduler.step()
            hit, overlap = evaluate(model, valid)
            print(f"epoch {epoch:2d}  loss {total / len(train):.3f}  class {hit:.3f}  IoU {overlap:.3f}")
            if overlap > best:
                best = overlap
                save(path, model, cfg, epoch, best)
        model, epoch = restore(path)
    hit, overlap = evaluate(model, test)
    print(f"epoch {epoch} on the test pictures: class {hit:.3f}  IoU {overlap:.3f}")


if __name__ == "__main__":
    main()
