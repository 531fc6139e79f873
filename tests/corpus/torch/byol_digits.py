"""Self-supervised exercise (BYOL style) on the 8x8 digits: learn from unlabelled images, then probe with 30 labels."""
import copy
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

torch.manual_seed(17)
images, labels = load_digits(return_X_y=True)
images = torch.tensor(images / 16.0, dtype=torch.float32).view(-1, 1, 8, 8)
shuffled = torch.randperm(len(images))
images, labels = images[shuffled], labels[shuffled.numpy()]
pool, test_x, test_y = images[:1300], images[1300:], labels[1300:]


def augment(x):
    n = len(x)
    angle = (torch.rand(n) - 0.5) * 0.6
    zoom = 1 + (torch.rand(n) - 0.5) * 0.4
    shift = (torch.rand(n, 2) - 0.5) * 0.5
    theta = torch.zeros(n, 2, 3)
    theta[:, 0, 0] = theta[:, 1, 1] = torch.cos(angle) * zoom
    theta[:, 0, 1], theta[:, 1, 0] = -torch.sin(angle) * zoom, torch.sin(angle) * zoom
    theta[:, :, 2] = shift
    x = F.grid_sample(x, F.affine_grid(theta, x.shape, align_corners=False), align_corners=False)
    return x * (0.7 + 0.6 * torch.rand(n, 1, 1, 1)) + 0.08 * torch.randn_like(x)


def encoder():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
        nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(64, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(),
        nn.Flatten(), nn.Linear(64 * 16, 64))


def mlp(i, h, o):
    return nn.Sequential(nn.Linear(i, h), nn.BatchNorm1d(h), nn.ReLU(), nn.Linear(h, o))


class BYOL(nn.Module):
    def __init__(self):
        super().__init__()
        self.online = nn.Sequential(encoder(), mlp(64, 128, 32))
        self.predictor = mlp(32, 64, 32)
        self.target = copy.deepcopy(self.online).requires_grad_(False)

    def forward(self, a, b):
        with torch.no_grad():
            ta, tb = self.target(a), self.target(b)
        pa, pb = self.predictor(self.online(a)), self.predictor(self.online(b))
        return -0.5 * (F.cosine_similarity(pa, tb).mean() + F.cosine_similarity(pb, ta).mean())

    @torch.no_grad()
    def follow(self, tau):
        for t, o in zip(self.target.parameters(), self.online.parameters()):
            t.lerp_(o, 1 - tau)


def probe(enc, per_class=3):
    was = enc.training
    enc.eval()
    with torch.no_grad():
        f_pool, f_test = F.normalize(enc(pool)).numpy(), F.normalize(enc(test_x)).numpy()
    enc.train(was)
    accs = []
    for seed in range(5):
        r = np.random.default_rng(seed)
        pick = np.concatenate([r.choice(np.flatnonzero(labels[:1300] == c), per_class, replace=False) for c in range(10)])
        accs.append(LogisticRegression(C=30, max_iter=500).fit(f_pool[pick], labels[pick]).score(f_test, test_y))
    return float(np.mean(accs))


model = BYOL()
print(f"untrained encoder, 30 labels: {probe(model.online[0]):.3f}")
learning = [p for p in model.parameters() if p.requires_grad]
opt = torch.optim.AdamW(learning, lr=2e-3, weight_decay=1e-4)
EPOCHS, BATCH = 20, 100
total, step = EPOCHS * math.ceil(len(pool) / BATCH), 0
for epoch in range(EPOCHS):
    losses = []
    for idx in torch.randperm(len(pool)).split(BATCH):
        loss = model(augment(pool[idx]), augment(pool[idx]))
        opt.zero_grad()
        loss.backward()
        opt.step()
        step += 1
        model.follow(1 - 0.03 * (math.cos(math.pi * step / total) + 1) / 2)
        losses.append(loss.item())
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1:3d}  loss {np.mean(losses):+.4f}  probe with 30 labels {probe(model.online[0]):.3f}")
