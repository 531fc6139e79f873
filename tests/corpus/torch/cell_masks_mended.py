import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(2)
rng = np.random.default_rng(2)
CFG = dict(size=32, train=256, val=64, micro_batch=4, accumulate=16, epochs=25, lr=0.3, momentum=0.9, patience=12)


def render(size):
    yy, xx = np.mgrid[:size, :size]
    mask = np.zeros((size, size), dtype=bool)
    for _ in range(rng.integers(2, 5)):
        cy, cx = rng.uniform(4, size - 4, 2)
        a, b = rng.uniform(2.5, 6, 2)
        mask |= ((yy - cy) / a) ** 2 + ((xx - cx) / b) ** 2 < 1
    shade = rng.uniform(-0.5, 0.5) + 0.02 * rng.uniform(-1, 1) * xx
    img = shade + 0.9 * mask + rng.normal(0, 0.5, (size, size))
    return img.astype("float32"), mask.astype("float32")


def dataset(n):
    pairs = [render(CFG["size"]) for _ in range(n)]
    x = torch.tensor(np.stack([p[0] for p in pairs])).unsqueeze(1)
    y = torch.tensor(np.stack([p[1] for p in pairs])).unsqueeze(1)
    return x, y


class SmallUNet(nn.Module):
    def __init__(self, c=8):
        super().__init__()
        self.enc1 = nn.Sequential(nn.Conv2d(1, c, 3, padding=1), nn.ReLU(), nn.Conv2d(c, c, 3, padding=1), nn.ReLU())
        self.enc2 = nn.Sequential(nn.Conv2d(c, 2 * c, 3, padding=1), nn.ReLU(),
                                  nn.Conv2d(2 * c, 2 * c, 3, padding=1), nn.ReLU())
        self.dec = nn.Sequential(nn.Conv2d(3 * c, c, 3, padding=1), nn.ReLU(), nn.Conv2d(c, 1, 1))

    def forward(self, x):
        a = self.enc1(x)
        b = self.enc2(F.max_pool2d(a, 2))
        return self.dec(torch.cat([a, F.interpolate(b, scale_factor=2)], dim=1))


def micro_batches(x, y):
    for idx in torch.randperm(len(x)).split(CFG["micro_batch"]):
        yield x[idx], y[idx]


def iou(model, x, y):
    model.eval()
    with torch.no_grad():
        guess = model(x) > 0
    truth = y > 0.5
    return ((guess & truth).sum() / (guess | truth).sum().clamp(min=1)).item()


x_train, y_train = dataset(CFG["train"])
x_val, y_val = dataset(CFG["val"])
model = SmallUNet()
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=CFG["lr"], momentum=CFG["momentum"])

best, stale = 0.0, 0
for epoch in range(CFG["epochs"]):
    model.train()
    total, seen = 0.0, 0
    optimizer.zero_grad()
    for step, (xb, yb) in enumerate(micro_batches(x_train, y_train)):
        loss = criterion(model(xb), yb)
        total += loss.item()
        seen += 1
        (loss / CFG["accumulate"]).backward()
        if (step + 1) % CFG["accumulate"] == 0:
            optimizer.step()
            optimizer.zero_grad()
    score = iou(model, x_val, y_val)
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1:2d}  loss {total / seen:.4f}  iou {score:.3f}")
    if score > best:
        best, stale = score, 0
    else:
        stale += 1
        if stale >= CFG["patience"]:
            break
print(f"last loss {total / seen:.4f}  last iou {score:.3f}  (everything foreground: {y_val.mean().item():.3f})")
