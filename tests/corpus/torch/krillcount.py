"""Find krill in sonar frames: centre heatmap with a focal loss."""
import argparse
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class FrameSpec:
    size: int = 48
    max_krill: int = 4
    noise: float = 0.25


class SonarFrames(Dataset):
    """Every frame carries zero to `max_krill` elongated echoes and a few round distractors."""

    def __init__(self, n, spec, seed):
        g = torch.Generator().manual_seed(seed)
        self.frames, self.centres = [], []
        yy, xx = torch.meshgrid(torch.arange(spec.size), torch.arange(spec.size), indexing="ij")
        for _ in range(n):
            img = torch.randn(spec.size, spec.size, generator=g) * spec.noise
            pts = []
            for _ in range(int(torch.randint(0, spec.max_krill + 1, (1,), generator=g))):
                cy, cx = torch.randint(5, spec.size - 5, (2,), generator=g).tolist()
                if any(abs(cy - a) + abs(cx - b) < 10 for a, b in pts):
                    continue
                img += 1.3 * torch.exp(-((xx - cx) / 3.5) ** 2 - ((yy - cy) / 1.2) ** 2)
                pts.append((cy, cx))
            for _ in range(2):
                cy, cx = torch.randint(0, spec.size, (2,), generator=g).tolist()
                img += 0.9 * torch.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / 3.0)
            self.frames.append(img[None])
            self.centres.append(pts)
        self.spec = spec

    def __len__(self):
        return len(self.frames)

    def __getitem__(self, i):
        heat = torch.zeros(1, self.spec.size, self.spec.size)
        for cy, cx in self.centres[i]:
            heat[0, cy - 1:cy + 2, cx - 1:cx + 2] = torch.clamp(heat[0, cy - 1:cy + 2, cx - 1:cx + 2], min=0.6)
            heat[0, cy, cx] = 1.0
        return self.frames[i], heat


class HeatNet(nn.Module):
    def __init__(self, width=16, prior=0.002):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, width, 5, padding=2), nn.GroupNorm(4, width), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=2, dilation=2), nn.GroupNorm(4, width), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
        )
        self.head = nn.Conv2d(width, 1, 1)
        nn.init.constant_(self.head.bias, torch.logit(torch.tensor(prior)).item())

    def forward(self, x):
        return self.head(self.body(x))


def focal(logits, heat, alpha=2.0, beta=4.0):
    log_p, log_q = F.logsigmoid(logits), F.logsigmoid(-logits)
    p = logits.sigmoid()
    centre = heat.eq(1).float()
    pos = centre * (1 - p) ** alpha * log_p
    neg = (1 - centre) * (1 - heat) ** beta * p ** alpha * log_q
    return -(pos + neg).mean()


def peaks(logits, threshold=0.3):
    p = logits.sigmoid()
    top = F.max_pool2d(p, 5, stride=1, padding=2) == p
    return [torch.nonzero(m[0]).tolist() for m in top & (p > threshold)]


@torch.no_grad()
def detection_f1(model, data):
    model.eval()
    tp = fp = fn = 0
    for start in range(0, len(data), 50):
        frames = torch.stack(data.frames[start:start + 50])
        for found, truth in zip(peaks(model(frames)), data.centres[start:start + 50]):
            left = list(truth)
            for y, x in found:
                near = [t for t in left if abs(t[0] - y) <= 2 and abs(t[1] - x) <= 2]
                if near:
                    left.remove(near[0])
                    tp += 1
                else:
                    fp += 1
            fn += len(left)
    return 2 * tp / max(1, 2 * tp + fp + fn)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--batch-size", type=int, default=20)
    args = ap.parse_args()
    torch.manual_seed(2)

    spec = FrameSpec()
    train, test = SonarFrames(600, spec, 1), SonarFrames(150, spec, 2)
    loader = DataLoader(train, batch_size=args.batch_size, shuffle=True)
    model = HeatNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs * len(loader))

    for epoch in range(1, args.epochs + 1):
        model.train()
        total = 0.0
        for frames, heat in loader:
            loss = focal(model(frames), heat)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            total += loss.item()
        print(f"epoch {epoch}  focal {total / len(loader):.6f}  F1 {detection_f1(model, test):.3f}")


if __name__ == "__main__":
    main()
