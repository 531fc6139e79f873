"""One-object detector for parts on a belt: class and box (x1, y1, x2, y2) in pixels."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SIZE = 40
CLASSES = ["plate", "ring", "cross"]


def draw(rng):
    img = rng.normal(0.1, 0.08, (SIZE, SIZE)).astype(np.float32)
    w, h = rng.integers(8, 20, 2)
    x1, y1 = rng.integers(0, SIZE - w), rng.integers(0, SIZE - h)
    x2, y2 = x1 + w, y1 + h
    c = int(rng.integers(3))
    if c == 0:
        img[y1:y2, x1:x2] += 0.8
    elif c == 1:
        img[y1:y2, x1:x2] += 0.8
        img[y1 + 2:y2 - 2, x1 + 2:x2 - 2] -= 0.8
    else:
        img[(y1 + y2) // 2 - 1:(y1 + y2) // 2 + 1, x1:x2] += 0.8
        img[y1:y2, (x1 + x2) // 2 - 1:(x1 + x2) // 2 + 1] += 0.8
    return img, (x1, y1, x2, y2), c


class BeltParts(torch.utils.data.Dataset):
    def __init__(self, n, seed, augment=False):
        rng = np.random.default_rng(seed)
        rows = [draw(rng) for _ in range(n)]
        self.img = torch.tensor(np.stack([r[0] for r in rows]))[:, None]
        self.box = torch.tensor(np.array([r[1] for r in rows]), dtype=torch.float32)
        self.cls = torch.tensor([r[2] for r in rows])
        self.augment = augment

    def __len__(self):
        return len(self.cls)

    def __getitem__(self, i):
        img, box = self.img[i], self.box[i].clone()
        if self.augment and torch.rand(()) < 0.5:
            img = img.flip(-1)
            box[[0, 2]] = SIZE - box[[0, 2]]
        if self.augment:
            img = img * (0.8 + 0.4 * torch.rand(()))
        return img, box, self.cls[i]


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        chans = [1, 16, 32, 48]
        layers = []
        for a, b in zip(chans, chans[1:]):
            layers += [nn.Conv2d(a, b, 3, stride=2, padding=1), nn.BatchNorm2d(b), nn.ReLU()]
        self.body = nn.Sequential(*layers, nn.Flatten())
        self.trunk = nn.Sequential(nn.Linear(48 * 25, 128), nn.ReLU())
        self.box = nn.Linear(128, 4)
        self.cls = nn.Linear(128, len(CLASSES))

    def forward(self, x):
        h = self.trunk(self.body(x))
        return self.box(h), self.cls(h)


def iou(a, b):
    lt = torch.maximum(a[:, :2], b[:, :2])
    rb = torch.minimum(a[:, 2:], b[:, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[:, 0] * wh[:, 1]
    area = lambda t: (t[:, 2] - t[:, 0]).clamp(min=0) * (t[:, 3] - t[:, 1]).clamp(min=0)
    return inter / (area(a) + area(b) - inter + 1e-6)


def evaluate(model, loader):
    model.eval()
    ious, hits = [], []
    with torch.no_grad():
        for img, box, cls in loader:
            pb, pc = model(img)
            ious.append(iou(pb * SIZE, box))
            hits.append((pc.argmax(1) == cls).float())
    return torch.cat(ious).mean().item(), torch.cat(hits).mean().item()


def main():
    torch.manual_seed(0)
    train = torch.utils.data.DataLoader(BeltParts(2000, 1, augment=True), batch_size=32, shuffle=True)
    val = torch.utils.data.DataLoader(BeltParts(400, 2), batch_size=100)
    model = Detector()
    opt = torch.optim.AdamW(model.parameters(), lr=1.5e-3, weight_decay=1e-4)
    epochs = 12
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=epochs)
    for ep in range(epochs):
        model.train()
        run = 0.0
        for img, box, cls in train:
            pb, pc = model(img)
            loss = F.smooth_l1_loss(pb, box / SIZE, beta=0.05) * 4 + F.cross_entropy(pc, cls)
            opt.zero_grad()
            loss.backward()
            opt.step()
            run += loss.item()
        sched.step()
        m, acc = evaluate(model, val)
        print(f"ep {ep:02d} loss {run / len(train):.4f} mean IoU {m:.3f} class acc {acc:.3f}")


if __name__ == "__main__":
    main()
