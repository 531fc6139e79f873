"""Nuclei segmentation on synthetic microscopy tiles with a tiny U-Net."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SIZE = 40


def make_tiles(n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    imgs, masks = [], []
    for _ in range(n):
        img = 0.3 + 0.1 * rng.normal(size=(SIZE, SIZE))
        img += rng.uniform(-0.01, 0.01) * xx + rng.uniform(-0.01, 0.01) * yy
        mask = np.zeros((SIZE, SIZE))
        for _ in range(rng.integers(2, 5)):
            cx, cy = rng.uniform(5, SIZE - 5, 2)
            a, b, t = rng.uniform(3, 6), rng.uniform(3, 6), rng.uniform(0, np.pi)
            u = (xx - cx) * np.cos(t) + (yy - cy) * np.sin(t)
            v = -(xx - cx) * np.sin(t) + (yy - cy) * np.cos(t)
            inside = (u / a) ** 2 + (v / b) ** 2 < 1
            mask[inside] = 1
            img[inside] += rng.uniform(0.15, 0.35)
        imgs.append(img)
        masks.append(mask)
    return (torch.tensor(np.array(imgs), dtype=torch.float32).unsqueeze(1),
            torch.tensor(np.array(masks), dtype=torch.float32).unsqueeze(1))


class TileAugment:
    """Random flips and quarter turns."""

    def __call__(self, t):
        if torch.rand(()) < 0.5:
            t = t.flip(-1)
        if torch.rand(()) < 0.5:
            t = t.flip(-2)
        return torch.rot90(t, int(torch.randint(0, 4, ())), (-2, -1))


class NucleiDataset(Dataset):
    def __init__(self, imgs, masks, transform=None):
        self.imgs, self.masks, self.transform = imgs, masks, transform

    def __len__(self):
        return len(self.imgs)

    def __getitem__(self, i):
        img, mask = self.imgs[i], self.masks[i]
        if self.transform is not None:
            img, mask = self.transform(torch.stack([img, mask]))
        return img, mask


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(),
                         nn.Conv2d(o, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU())


class TinyUNet(nn.Module):
    def __init__(self, c=10):
        super().__init__()
        self.d1, self.d2, self.mid = block(1, c), block(c, 2 * c), block(2 * c, 2 * c)
        self.u2, self.u1 = block(4 * c, c), block(2 * c, c)
        self.out = nn.Conv2d(c, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        m = self.mid(F.max_pool2d(b, 2))
        y = self.u2(torch.cat([F.interpolate(m, scale_factor=2), b], 1))
        y = self.u1(torch.cat([F.interpolate(y, scale_factor=2), a], 1))
        return self.out(y)


@torch.no_grad()
def mean_iou(model, loader):
    model.eval()
    scores = []
    for x, m in loader:
        p = model(x) > 0
        m = m > 0.5
        inter = (p & m).sum((1, 2, 3)).float()
        union = (p | m).sum((1, 2, 3)).float()
        scores.append(inter / union.clamp(min=1))
    return torch.cat(scores).mean().item()


def main():
    torch.manual_seed(0)
    xtr, mtr = make_tiles(400, 0)
    xte, mte = make_tiles(120, 1)
    train = DataLoader(NucleiDataset(xtr, mtr, TileAugment()), batch_size=16, shuffle=True)
    test = DataLoader(NucleiDataset(xte, mte), batch_size=40)
    model = TinyUNet()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(6):
        model.train()
        tot = 0.0
        for x, m in train:
            loss = F.binary_cross_entropy_with_logits(model(x), m)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item()
        print(f"[{epoch}] bce={tot / len(train):.4f} val_iou={mean_iou(model, test):.3f}")
    print(f"final IoU {mean_iou(model, test):.3f} (everything-foreground IoU {mte.mean().item():.3f})")


if __name__ == "__main__":
    main()
