"""Two-stage transfer: pretrain a small CNN on procedurally made textures, then adapt it to
handwritten digits with very few labels. Stage A warms up the new head, stage B fine-tunes."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.manual_seed(3)
rng = np.random.default_rng(3)


def texture(kind, size=8):
    yy, xx = np.mgrid[0:size, 0:size]
    f, ph = rng.uniform(0.8, 1.6), rng.uniform(0, 2 * np.pi)
    if kind == 0:
        z = np.sin(f * xx + ph)
    elif kind == 1:
        z = np.sin(f * yy + ph)
    elif kind == 2:
        z = np.sin(f * (xx + yy) + ph)
    else:
        z = np.sin(f * xx + ph) * np.sin(f * yy + ph)
    return (z + 0.4 * rng.standard_normal((size, size))).astype(np.float32)


class Backbone(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.c1 = nn.Conv2d(1, width, 3, padding=1)
        self.c2 = nn.Conv2d(width, 2 * width, 3, padding=1)
        self.fc = nn.Linear(2 * width * 4, 24)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.c1(x)), 2)
        x = F.max_pool2d(F.relu(self.c2(x)), 2)
        return F.relu(self.fc(x.flatten(1)))


class Classifier(nn.Module):
    def __init__(self, backbone, n_classes):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(24, n_classes)

    def forward(self, x):
        return self.head(self.backbone(x))


def batches(x, y, bs):
    order = torch.randperm(len(x))
    for i in range(0, len(x), bs):
        idx = order[i:i + bs]
        yield x[idx], y[idx]


def run_epoch(model, optimizer, x, y, bs=32):
    model.train()
    total = 0.0
    for xb, yb in batches(x, y, bs):
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(xb)
    return total / len(x)


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def set_trainable(module, flag):
    for p in module.parameters():
        p.requires_grad = flag


# ---- pretraining on textures
tex_y = rng.integers(0, 4, 1200)
tex_x = torch.from_numpy(np.stack([texture(k) for k in tex_y])).unsqueeze(1)
tex_y = torch.from_numpy(tex_y)
backbone = Backbone()
pre = Classifier(backbone, 4)
opt = torch.optim.Adam(pre.parameters(), lr=2e-3)
for epoch in range(8):
    loss = run_epoch(pre, opt, tex_x[:1000], tex_y[:1000])
print(f"pretraining: loss {loss:.3f} texture accuracy {accuracy(pre, tex_x[1000:], tex_y[1000:]):.3f}")

# ---- target task
digits = load_digits()
imgs = (digits.images.astype(np.float32) / 8.0) - 1.0
xtr, xte, ytr, yte = train_test_split(imgs, digits.target, train_size=500, stratify=digits.target, random_state=0)
xtr, xte = torch.from_numpy(xtr).unsqueeze(1), torch.from_numpy(xte).unsqueeze(1)
ytr, yte = torch.from_numpy(ytr), torch.from_numpy(yte)

model = Classifier(backbone, 10)
HEAD_EPOCHS, FULL_EPOCHS = 6, 30

set_trainable(model.backbone, False)
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=3e-3, weight_decay=1e-2)
for epoch in range(HEAD_EPOCHS):
    loss = run_epoch(model, optimizer, xtr, ytr)
    print(f"head  {epoch:02d} loss {loss:.3f} test acc {accuracy(model, xte, yte):.3f}")

set_trainable(model.backbone, True)
for g in optimizer.param_groups:
    g["lr"] = 1.5e-3
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=FULL_EPOCHS)
for epoch in range(FULL_EPOCHS):
    loss = run_epoch(model, optimizer, xtr, ytr)
    scheduler.step()
    if epoch % 5 == 4:
        print(f"full  {epoch:02d} loss {loss:.3f} test acc {accuracy(model, xte, yte):.3f}")

majority = np.bincount(yte.numpy()).max() / len(yte)
print(f"majority class {majority:.3f}, fine-tuned test accuracy {accuracy(model, xte, yte):.3f}")
