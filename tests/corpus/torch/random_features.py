# Random convolution features + one trained layer ("extreme learning machine" exercise, images)
import math
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
rs = np.random.RandomState(0)
SIZE = 20
SHAPES = ["disc", "ring", "square", "cross", "bars"]


def draw(kind):
    yy, xx = np.mgrid[:SIZE, :SIZE]
    cx, cy = rs.uniform(7, 13, 2)
    r = rs.uniform(4, 6.5)
    d = np.hypot(xx - cx, yy - cy)
    dx, dy = abs(xx - cx), abs(yy - cy)
    img = {"disc": d < r,
           "ring": (d < r) & (d > r - 2),
           "square": (dx < r * .85) & (dy < r * .85),
           "cross": ((dx < 1.3) | (dy < 1.3)) & (dx < r) & (dy < r),
           "bars": (dx < r) & (dy < r) & ((xx // 2) % 2 == 0)}[kind].astype(np.float32)
    return img * rs.uniform(.6, 1.2) + rs.normal(0, .35, img.shape)


labels = rs.randint(0, len(SHAPES), 2600)
images = np.stack([draw(SHAPES[k]) for k in labels]).astype(np.float32)
images = (images - images[:1800].mean()) / images[:1800].std()
X = torch.from_numpy(images)[:, None]
y = torch.from_numpy(labels).long()
X_tr, y_tr, X_te, y_te = X[:1800], y[:1800], X[1800:], y[1800:]


class RandomFeatures(nn.Module):
    def __init__(self, n=64):
        super().__init__()
        self.conv1 = nn.Conv2d(1, n, 5, bias=False)
        self.norm = nn.BatchNorm2d(n, affine=False, momentum=None)
        self.conv2 = nn.Conv2d(n, n, 3, groups=n // 4, bias=False)
        self.norm2 = nn.BatchNorm2d(n, affine=False, momentum=None)
        self.requires_grad_(False)

    def forward(self, x):
        h = F.relu(self.norm(self.conv1(x)))
        h = F.max_pool2d(F.relu(self.norm2(self.conv2(h))), 3)
        h = h - h.mean(dim=1, keepdim=True)
        return h.flatten(1) / math.sqrt(h[0].numel())


features = RandomFeatures()
features.train()
with torch.no_grad():                       # one pass to collect the statistics of the norm layers
    for part in X_tr.split(200):
        features(part)
features.eval()

with torch.no_grad():
    width = features(X_tr[:1]).shape[1]
head = nn.Linear(width, len(SHAPES))
nn.init.zeros_(head.weight)
nn.init.zeros_(head.bias)
model = nn.Sequential(features, head)
print("weights:", sum(p.numel() for p in model.parameters()),
      "trained:", sum(p.numel() for p in model.parameters() if p.requires_grad))

optimizer = torch.optim.SGD(head.parameters(), lr=2.0, momentum=0.9)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda e: min(1.0, (e + 1) / 3) * 0.92 ** e)

for epoch in range(15):
    order = torch.randperm(len(X_tr))
    losses = []
    for idx in order.split(50):
        out = model(X_tr[idx])
        loss = F.cross_entropy(out, y_tr[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        test_acc = torch.cat([model(p).argmax(1) for p in X_te.split(200)]).eq(y_te).float().mean().item()
    print(f"epoch {epoch:2d} lr {schedule.get_last_lr()[0]:.3f} loss {np.mean(losses):.4f} test acc {test_acc:.4f}")
    schedule.step()

with torch.no_grad():
    guess = model(X_te).argmax(1)
for k, name in enumerate(SHAPES):
    print(f"{name:7s} recall {guess[y_te == k].eq(k).float().mean():.3f}")
