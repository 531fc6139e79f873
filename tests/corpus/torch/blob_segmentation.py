"""Segment bright cells on a noisy background: dice loss, bf16 autocast, accumulation, averaged weights."""
import copy
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIDE, ACCUM = 32, 3


class Cells(Dataset):
    def __init__(self, n, seed, augment):
        rng = np.random.default_rng(seed)
        yy, xx = np.mgrid[:SIDE, :SIDE]
        self.images, self.masks = [], []
        for _ in range(n):
            mask = np.zeros((SIDE, SIDE), bool)
            for _ in range(rng.integers(1, 4)):
                cy, cx = rng.uniform(4, SIDE - 4, 2)
                ry, rx = rng.uniform(2, 5, 2)
                mask |= ((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2 <= 1
            shade = rng.uniform(-1, 1) * (xx / SIDE - 0.5) + rng.uniform(-1, 1) * (yy / SIDE - 0.5)
            self.images.append((1.2 * mask + shade + rng.normal(0, 0.6, mask.shape)).astype(np.float32))
            self.masks.append(mask.astype(np.float32))
        self.augment = augment

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        pair = torch.from_numpy(np.stack([self.images[i], self.masks[i]]))
        if self.augment:
            if torch.rand(()) < 0.5:
                pair = pair.flip(-1)
            pair = torch.rot90(pair, int(torch.randint(0, 4, ())), (-2, -1))
        return pair[:1], pair[1:]


class LittleUNet(nn.Module):
    def __init__(self, w=12):
        super().__init__()
        def block(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.GroupNorm(4, o), nn.SiLU(),
                                 nn.Conv2d(o, o, 3, padding=1), nn.SiLU())
        self.down, self.mid, self.up = block(1, w), block(w, 2 * w), block(3 * w, w)
        self.out = nn.Conv2d(w, 1, 1)

    def forward(self, x):
        a = self.down(x)
        b = self.mid(nn.functional.max_pool2d(a, 2))
        b = nn.functional.interpolate(b, scale_factor=2)
        return self.out(self.up(torch.cat([a, b], 1)))


def soft_dice(logits, mask):
    p = logits.float().sigmoid()
    inter = (p * mask).sum((1, 2, 3))
    return 1 - (2 * inter + 1) / (p.sum((1, 2, 3)) + mask.sum((1, 2, 3)) + 1)


@torch.no_grad()
def mean_iou(model, loader):
    model.eval()
    vals = []
    for x, m in loader:
        guess, m = model(x) > 0, m > 0.5
        vals.append((guess & m).sum((1, 2, 3)) / (guess | m).sum((1, 2, 3)).clamp(min=1))
    return torch.cat(vals).mean().item()


torch.manual_seed(2)
train_ds, test_ds = Cells(320, 0, True), Cells(100, 1, False)
train = DataLoader(train_ds, batch_size=8, shuffle=True)
test = DataLoader(test_ds, batch_size=50)
net = LittleUNet()
averaged = copy.deepcopy(net).requires_grad_(False)
opt = torch.optim.RAdam(net.parameters(), lr=6e-3)

for epoch in range(9):
    net.train()
    losses, pending = [], 0
    for step, (x, m) in enumerate(train):
        # the last group of an epoch may be shorter than ACCUM
        group = min(ACCUM, len(train) - (step - pending))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = net(x)
        loss = soft_dice(logits, m).mean()
        (loss / group).backward()
        losses.append(loss.item())
        pending += 1
        if pending == group:
            opt.step()
            opt.zero_grad()
            pending = 0
            with torch.no_grad():
                for slow, fast in zip(averaged.parameters(), net.parameters()):
                    slow.lerp_(fast, 0.2)
    print(f"epoch {epoch + 1} dice loss {np.mean(losses):.4f} IoU raw {mean_iou(net, test):.4f} "
          f"averaged {mean_iou(averaged, test):.4f}")

thresh = np.mean([(((i > 0.6) & (m > 0)).sum() / ((i > 0.6) | (m > 0)).sum())
                  for i, m in zip(test_ds.images, test_ds.masks)])
print(f"held-out IoU {mean_iou(averaged, test):.4f} (fixed threshold {thresh:.4f})")
