import torch
from dataclasses import dataclass
from torch import nn


@dataclass
class Cfg:
    size: int = 32
    n_train: int = 6000
    n_test: int = 500
    batch: int = 50
    epochs: int = 13
    lr: float = 2e-3


cfg = Cfg()
torch.manual_seed(0)


def render(n, size):
    """Grey yard images with one bright crate. Annotation: left, top, width, height in pixels."""
    img = 0.3 * torch.rand(n, 1, size, size)
    ann = torch.zeros(n, 4)
    for i in range(n):
        w, h = torch.randint(6, 18, (2,)).tolist()
        x = torch.randint(0, size - w + 1, (1,)).item()
        y = torch.randint(0, size - h + 1, (1,)).item()
        img[i, 0, y:y + h, x:x + w] += 0.7
        ann[i] = torch.tensor([x, y, w, h], dtype=torch.float)
    return img, ann


def to_target(ann, size):
    """Box that the head is trained on, in units of the image."""
    x, y, w, h = ann.unbind(1)
    return torch.stack([x + w / 2, y + h / 2, w, h], 1) / size


def corners(box):
    cx, cy, w, h = box.unbind(-1)
    return torch.stack([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2], -1)


def iou(a, b):
    lt = torch.maximum(a[:, :2], b[:, :2])
    rb = torch.minimum(a[:, 2:], b[:, 2:])
    inter = (rb - lt).clamp(min=0).prod(1)
    area = lambda z: (z[:, 2:] - z[:, :2]).clamp(min=0).prod(1)
    return inter / (area(a) + area(b) - inter + 1e-7)


class Finder(nn.Module):
    def __init__(self):
        super().__init__()
        chans = [1, 8, 16, 32]
        self.conv = nn.Sequential(*[
            m for a, b in zip(chans, chans[1:])
            for m in (nn.Conv2d(a, b, 3, stride=2, padding=1), nn.ReLU())
        ])
        self.fc = nn.Sequential(nn.Flatten(), nn.Linear(32 * 16, 64), nn.ReLU(), nn.Linear(64, 4))

    def forward(self, x):
        return torch.sigmoid(self.fc(self.conv(x)))


def main():
    img, ann = render(cfg.n_train, cfg.size)
    timg, tann = render(cfg.n_test, cfg.size)
    target = to_target(ann, cfg.size)
    truth = torch.cat([tann[:, :2], tann[:, :2] + tann[:, 2:]], 1) / cfg.size
    net = Finder()
    opt = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        net.train()
        order = torch.randperm(cfg.n_train)
        run = 0.0
        for idx in order.split(cfg.batch):
            loss = nn.functional.smooth_l1_loss(net(img[idx]), target[idx], beta=0.05)
            opt.zero_grad()
            loss.backward()
            opt.step()
            run += loss.item() * len(idx)
        net.eval()
        with torch.no_grad():
            overlap = iou(corners(net(timg)), truth)
        print(f"epoch {epoch}: loss {run / cfg.n_train:.4f}  test IoU {overlap.mean():.3f}"
              f"  IoU>0.5: {(overlap > 0.5).float().mean():.3f}")


if __name__ == "__main__":
    main()
