# Segment leaves on a noisy background, dice loss. Images are ellipses for now.
import numpy as np
import torch
import torch.nn as nn

rng = np.random.RandomState(5)
torch.manual_seed(5)
S = 32


def leaf_image():
    yy, xx = np.mgrid[:S, :S]
    cy, cx = rng.uniform(9, 23, 2)
    a, b = rng.uniform(4, 10), rng.uniform(3, 7)
    th = rng.uniform(0, np.pi)
    u = (xx - cx) * np.cos(th) + (yy - cy) * np.sin(th)
    v = -(xx - cx) * np.sin(th) + (yy - cy) * np.cos(th)
    mask = (u / a) ** 2 + (v / b) ** 2 < 1
    soil = rng.normal(0.45, 0.18, (3, S, S))
    green = np.array([0.30, 0.60, 0.25])[:, None, None] + rng.normal(0, 0.18, (3, S, S))
    img = np.where(mask, green, soil)
    return img.astype(np.float32), mask[None].astype(np.float32)


imgs, masks = zip(*[leaf_image() for _ in range(500)])
imgs, masks = torch.tensor(np.stack(imgs)), torch.tensor(np.stack(masks))
train_x, train_y = imgs[:400], masks[:400]
val_x, val_y = imgs[400:], masks[400:]


def block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU())


class MiniUNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1 = block(3, 12)
        self.down2 = block(12, 24)
        self.mid = block(24, 24)
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.dec = block(24 + 12, 12)
        self.last = nn.Conv2d(12, 1, 1)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        d1 = self.down1(x)
        d2 = self.mid(self.down2(self.pool(d1)))
        return self.last(self.dec(torch.cat([self.up(d2), d1], dim=1)))


def dice_score(pred, target, eps=1.0):
    inter = (pred * target).sum(dim=(1, 2, 3))
    size = pred.sum(dim=(1, 2, 3)) + target.sum(dim=(1, 2, 3))
    return ((2 * inter + eps) / (size + eps)).mean()


def dice_loss(logits, target):
    pred = (torch.sigmoid(logits) > 0.5).float()
    loss = 1 - dice_score(pred, target)
    return loss.requires_grad_(True)


model = MiniUNet()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
n_batches = len(train_x) // 20

for epoch in range(1, 9):
    model.train()
    order = torch.randperm(len(train_x))
    epoch_loss = 0.0
    for b in range(n_batches):
        take = order[b * 20:(b + 1) * 20]
        opt.zero_grad()
        loss = dice_loss(model(train_x[take]), train_y[take])
        loss.backward()
        opt.step()
        epoch_loss += loss.item() / n_batches

    model.eval()
    with torch.no_grad():
        guess = (torch.sigmoid(model(val_x)) > 0.5).float()
        score = dice_score(guess, val_y).item()
    print(f"epoch {epoch}  dice loss {epoch_loss:.4f}  val dice {score:.4f}  leaf fraction {guess.mean().item():.3f} (true {val_y.mean().item():.3f})")
