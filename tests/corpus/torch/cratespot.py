"""Find the crate on the conveyor image and tell which of four hatchings it carries."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

SIZE = 48


def draw(rng):
    image = rng.normal(0, 0.1, (SIZE, SIZE)).astype(np.float32)
    w, h = rng.integers(14, 26, 2)
    x, y = rng.integers(0, SIZE - w), rng.integers(0, SIZE - h)
    kind = int(rng.integers(4))
    yy, xx = np.mgrid[:h, :w]
    phase = int(rng.integers(4))
    stripe = [xx, yy, xx + yy, xx - yy][kind]
    image[y:y + h, x:x + w] += 0.5 + 0.4 * (((stripe + phase) // 2) % 2)
    box = np.array([x + w / 2, y + h / 2, w, h], dtype=np.float32)
    return image, box, kind


class Conveyor(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.items = [draw(rng) for _ in range(n)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        image, box, kind = self.items[i]
        return torch.from_numpy(image).unsqueeze(0), torch.from_numpy(box), kind


class Spotter(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(24 * 36, 64), nn.ReLU(),
        )
        self.box = nn.Linear(64, 4)
        self.kind = nn.Linear(64, 4)

    def forward(self, x):
        z = self.features(x)
        return self.box(z), self.kind(z)


def detection_loss(boxes, logits, true_boxes, kinds):
    return 5 * nn.functional.l1_loss(boxes, true_boxes) + nn.functional.cross_entropy(logits, kinds)


def iou(a, b):
    lo = torch.maximum(a[:, :2] - a[:, 2:] / 2, b[:, :2] - b[:, 2:] / 2)
    hi = torch.minimum(a[:, :2] + a[:, 2:] / 2, b[:, :2] + b[:, 2:] / 2)
    inter = (hi - lo).clamp(min=0).prod(1)
    return inter / (a[:, 2:].prod(1) + b[:, 2:].prod(1) - inter)


def evaluate(net, loader):
    net.eval()
    ious, hits = [], []
    with torch.no_grad():
        for image, box, kind in loader:
            b, k = net(image)
            ious.append(iou(b, box))
            hits.append((k.argmax(1) == kind).float())
    return torch.cat(ious).mean().item(), torch.cat(hits).mean().item()


torch.manual_seed(31)
train = DataLoader(Conveyor(1200, 1), batch_size=32, shuffle=True)
test = DataLoader(Conveyor(200, 2), batch_size=100)
net = Spotter()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)

for epoch in range(12):
    net.train()
    total = 0.0
    for image, box, kind in train:
        boxes, logits = net(image)
        loss = detection_loss(boxes, logits, box, kind)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        total += loss.item()
    mean_iou, acc = evaluate(net, test)
    print(f"epoch {epoch + 1:2d} loss {total / len(train):.4f} IoU {mean_iou:.3f} hatching acc {acc:.3f}")
