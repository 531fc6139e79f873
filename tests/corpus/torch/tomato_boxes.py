"""Single-object detector for the greenhouse camera: one crop per picture, class + bounding box."""
from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, random_split

CLASSES = ["tomato", "chilli", "aubergine", "leaf"]


@dataclass
class Config:
    image_size: int = 32
    n_images: int = 1600
    batch_size: int = 32
    epochs: int = 14
    lr: float = 0.05
    momentum: float = 0.9
    box_weight: float = 5.0
    clip: float = 2.0
    seed: int = 3


class CropImages(Dataset):
    """Draws the crops and keeps them in memory."""

    def __init__(self, cfg: Config) -> None:
        self.size = cfg.image_size
        g = torch.Generator().manual_seed(cfg.seed)
        self.images, self.labels, self.boxes = self._draw(cfg.n_images, g)

    def _draw(self, n: int, g: torch.Generator):
        s = self.size
        yy, xx = torch.meshgrid(torch.arange(s).float(), torch.arange(s).float(), indexing="ij")
        labels = torch.randint(0, len(CLASSES), (n,), generator=g)
        images = torch.rand(n, 3, s, s, generator=g) * 0.4
        boxes = torch.zeros(n, 4)
        for i in range(n):
            w, h = (torch.rand(2, generator=g) * 5 + 4).tolist()
            cx = torch.rand(1, generator=g).item() * (s - 2 * w) + w
            cy = torch.rand(1, generator=g).item() * (s - 2 * h) + h
            dx, dy = (xx - cx) / w, (yy - cy) / h
            kind = labels[i].item()
            if kind == 0:
                mask = dx ** 2 + dy ** 2 < 1
            elif kind == 1:
                mask = (dx - dy).abs().lt(0.45) & (dx.abs() < 1) & (dy.abs() < 1)
            elif kind == 2:
                r = dx ** 2 + dy ** 2
                mask = (r < 1) & (r > 0.4)
            else:
                mask = dx.abs() + dy.abs() < 1
            tint = 0.45 + 0.3 * torch.rand(3, generator=g)
            images[i] += mask * tint[:, None, None]
            boxes[i] = torch.tensor([cx - w, cy - h, cx + w, cy + h])
        return images.clamp(0, 1), labels, boxes

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, i: int):
        image = (self.images[i] - 0.3) / 0.25
        box = self.boxes[i]
        return image, self.labels[i], box


class Detector(nn.Module):
    def __init__(self, n_classes: int) -> None:
        super().__init__()
        chans = [3, 16, 32, 64]
        blocks = []
        for a, b in zip(chans[:-1], chans[1:]):
            blocks += [nn.Conv2d(a, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)]
        self.trunk = nn.Sequential(*blocks, nn.Flatten())
        self.neck = nn.Sequential(nn.Linear(64 * 4 * 4, 128), nn.ReLU())
        self.cls_head = nn.Linear(128, n_classes)
        self.box_head = nn.Linear(128, 4)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        h = self.neck(self.trunk(x))
        return self.cls_head(h), self.box_head(h)


def iou(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    lt = torch.maximum(a[:, :2], b[:, :2])
    rb = torch.minimum(a[:, 2:], b[:, 2:])
    inter = (rb - lt).clamp(min=0).prod(1)
    area = lambda t: (t[:, 2:] - t[:, :2]).clamp(min=0).prod(1)
    return inter / (area(a) + area(b) - inter).clamp(min=1e-6)


class DetectorTrainer:
    def __init__(self, model: nn.Module, cfg: Config, device: torch.device) -> None:
        self.model = model.to(device)
        self.cfg = cfg
        self.device = device
        self.optimizer = torch.optim.SGD(
            model.parameters(), lr=cfg.lr, momentum=cfg.momentum, weight_decay=5e-4
        )
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, cfg.epochs)

    def loss(self, image, label, box):
        logits, pred = self.model(image)
        cls_loss = F.cross_entropy(logits, label)
        box_loss = F.mse_loss(pred, box)
        return cls_loss + self.cfg.box_weight * box_loss

    def train_epoch(self, loader: DataLoader) -> float:
        self.model.train()
        total = 0.0
        for batch in loader:
            image, label, box = (t.to(self.device) for t in batch)
            loss = self.loss(image, label, box)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg.clip)
            self.optimizer.step()
            total += loss.item() * len(label)
        self.scheduler.step()
        return total / len(loader.dataset)

    @torch.no_grad()
    def evaluate(self, loader: DataLoader) -> dict[str, float]:
        self.model.eval()
        right, overlap, n = 0, 0.0, 0
        for batch in loader:
            image, label, box = (t.to(self.device) for t in batch)
            logits, pred = self.model(image)
            right += (logits.argmax(1) == label).sum().item()
            overlap += iou(pred, box).sum().item()
            n += len(label)
        return {"accuracy": right / n, "iou": overlap / n}


def main() -> None:
    cfg = Config()
    torch.manual_seed(cfg.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    data = CropImages(cfg)
    train_set, val_set = random_split(data, [1300, 300], generator=torch.Generator().manual_seed(cfg.seed))
    train_loader = DataLoader(train_set, batch_size=cfg.batch_size, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=100)

    trainer = DetectorTrainer(Detector(len(CLASSES)), cfg, device)
    for epoch in range(1, cfg.epochs + 1):
        loss = trainer.train_epoch(train_loader)
        scores = trainer.evaluate(val_loader)
        print(f"[{epoch:02d}] loss={loss:.4f} acc={scores['accuracy']:.3f} iou={scores['iou']:.3f}")


if __name__ == "__main__":
    main()
