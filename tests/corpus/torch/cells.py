# segmentation of small bright cells, batch of 2 because of my GPU, so I accumulate 8 steps
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import IterableDataset, DataLoader

torch.manual_seed(42)
ACCUM = 8


class CellStream(IterableDataset):
    """draws new images for ever, about 3 % of the pixels are cell"""

    def __init__(self, n, seed):
        self.n, self.seed = n, seed

    def __iter__(self):
        g = torch.Generator().manual_seed(self.seed)
        yy, xx = torch.meshgrid(torch.arange(32.), torch.arange(32.), indexing="ij")
        for _ in range(self.n):
            mask = torch.zeros(32, 32)
            for _ in range(int(torch.randint(1, 4, (1,), generator=g))):
                cx, cy = (torch.rand(2, generator=g) * 24 + 4).tolist()
                r = float(torch.rand(1, generator=g)) * 1.5 + 1.5
                mask = torch.maximum(mask, ((xx - cx) ** 2 + (yy - cy) ** 2 < r * r).float())
            light = 0.5 * torch.sin(xx / 32 * math.pi * float(torch.rand(1, generator=g)) * 2)
            img = light + 0.9 * mask + 0.35 * torch.randn(32, 32, generator=g)
            yield img[None], mask[None]


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.GroupNorm(4, o), nn.SiLU())


class MiniUNet(nn.Module):
    def __init__(self, w=12):
        super().__init__()
        self.d1, self.d2, self.mid = block(1, w), block(w, 2 * w), block(2 * w, 2 * w)
        self.u2, self.u1 = block(4 * w, w), block(2 * w, w)
        self.out = nn.Conv2d(w, 1, 1)
        nn.init.constant_(self.out.bias, -3.0)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        m = self.mid(F.max_pool2d(b, 2))
        y = self.u2(torch.cat([F.interpolate(m, scale_factor=2), b], 1))
        y = self.u1(torch.cat([F.interpolate(y, scale_factor=2), a], 1))
        return self.out(y)


def dice_loss(logits, target):
    p = torch.sigmoid(logits)
    inter = (p * target).sum()
    return 1 - (2 * inter + 1) / (p.sum() + target.sum() + 1)


pos_weight = torch.tensor(5.0)


def seg_loss(logits, target):
    bce = F.binary_cross_entropy_with_logits(logits, target, pos_weight=pos_weight)
    return bce + dice_loss(logits, target)


def iou(net):
    net.eval()
    inter = union = 0.0
    with torch.no_grad():
        for x, m in DataLoader(CellStream(100, seed=999), batch_size=10):
            p = net(x) > 0
            inter += (p & (m > 0)).sum().item()
            union += (p | (m > 0)).sum().item()
    net.train()
    return inter / union


net = MiniUNet()
opt = torch.optim.AdamW(net.parameters(), lr=4e-3)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 20))
for epoch in range(6):
    running, step = 0.0, 0
    opt.zero_grad()
    for x, m in DataLoader(CellStream(640, seed=epoch), batch_size=2):
        loss = seg_loss(net(x), m)
        (loss / ACCUM).backward()
        running += loss.item()
        step += 1
        if step % ACCUM == 0:
            opt.step()
            sched.step()
            opt.zero_grad()
    print(f"epoch {epoch}: loss {running / step:.4f}, IoU on held out images {iou(net):.3f}")
