import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(9)
rng = np.random.default_rng(9)
ACCUM = 8


def slide(size=64):
    yy, xx = np.mgrid[:size, :size]
    mask = np.zeros((size, size), bool)
    for _ in range(rng.integers(1, 4)):
        cy, cx = rng.integers(6, size - 6, 2)
        mask |= (yy - cy) ** 2 + ((xx - cx) * rng.uniform(0.7, 1.4)) ** 2 < rng.integers(3, 7) ** 2
    img = 0.4 * mask + rng.normal(0, 0.25, (size, size)) + rng.uniform(-0.3, 0.3)
    return torch.tensor(img, dtype=torch.float32)[None, None], torch.tensor(mask, dtype=torch.float32)[None, None]


train, test = [slide() for _ in range(240)], [slide() for _ in range(40)]
print("foreground share: %.3f" % np.mean([m.mean().item() for _, m in train]))


def conv(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.GroupNorm(4, o), nn.ReLU())


class TinyUNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.d1, self.d2, self.mid = conv(1, 8), conv(8, 16), conv(16, 32)
        self.u2, self.u1 = conv(32 + 16, 16), conv(16 + 8, 8)
        self.head = nn.Conv2d(8, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        c = self.mid(F.max_pool2d(b, 2))
        b = self.u2(torch.cat([F.interpolate(c, scale_factor=2), b], 1))
        a = self.u1(torch.cat([F.interpolate(b, scale_factor=2), a], 1))
        return self.head(a)


def dice_loss(logits, mask):
    p = torch.sigmoid(logits)
    return 1 - (2 * (p * mask).sum() + 1) / (p.sum() + mask.sum() + 1)


model = TinyUNet()
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
for epoch in range(8):
    total = 0.0
    for k, i in enumerate(rng.permutation(len(train))):
        img, mask = train[i]
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(img)
        loss = dice_loss(logits.float(), mask)
        (loss / ACCUM).backward()
        total += loss.item()
        if (k + 1) % ACCUM == 0:
            opt.step()
            opt.zero_grad(set_to_none=True)
    with torch.no_grad():
        scores = []
        for img, mask in test:
            pred = (model(img) > 0).float()
            scores.append((2 * (pred * mask).sum() / (pred.sum() + mask.sum())).item())
    print(f"epoch {epoch + 1} dice loss {total / len(train):.3f} test dice {np.mean(scores):.3f}")
