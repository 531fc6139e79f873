import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit

rng = np.random.default_rng(21)
torch.manual_seed(21)
SIDE, N_LEAVES, SHOTS, CLASSES = 12, 150, 14, 3


def photograph():
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    motifs = [np.sin(2 * np.pi * 2 * xx), np.sin(2 * np.pi * 2 * yy), np.sin(2 * np.pi * 1.5 * (xx + yy))]
    images, kinds, leaves = [], [], []
    for leaf in range(N_LEAVES):
        kind = rng.integers(CLASSES)
        veins = rng.normal(0, 1.0, (SIDE, SIDE))
        for _ in range(SHOTS):
            img = 0.33 * motifs[kind] + veins
            img = img * rng.uniform(0.8, 1.2) + rng.normal(0, 0.35, (SIDE, SIDE))
            images.append(img)
            kinds.append(kind)
            leaves.append(leaf)
    return np.array(images, dtype=np.float32), np.array(kinds), np.array(leaves)


def stream(x, y, batch, epochs):
    for epoch in range(epochs):
        order = np.random.default_rng(epoch).permutation(len(x))
        for start in range(0, len(order), batch):
            take = order[start:start + batch]
            yield epoch, torch.from_numpy(x[take]).unsqueeze(1), torch.from_numpy(y[take])


def build():
    return nn.Sequential(
        nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(16 * 36, 64), nn.ReLU(), nn.Dropout(0.2),
        nn.Linear(64, CLASSES),
    )


def evaluate(net, x, y):
    net.eval()
    with torch.no_grad():
        logits = net(torch.from_numpy(x).unsqueeze(1))
        target = torch.from_numpy(y)
        acc = (logits.argmax(1) == target).float().mean().item()
        loss = F.cross_entropy(logits, target).item()
    net.train()
    return acc, loss


images, kinds, leaves = photograph()
splitter = ShuffleSplit(n_splits=1, test_size=0.3, random_state=4)
fit_idx, test_idx = next(splitter.split(images, kinds, groups=leaves))
mean, std = images[fit_idx].mean(), images[fit_idx].std()
images = (images - mean) / std

net = build()
opt = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-2)
running, last = 0.0, 0
for epoch, xb, yb in stream(images[fit_idx], kinds[fit_idx], batch=64, epochs=10):
    if epoch != last:
        print(f"epoch {last} running loss {running:.4f}")
        last = epoch
    loss = F.cross_entropy(net(xb), yb)
    opt.zero_grad()
    loss.backward()
    opt.step()
    running = 0.95 * running + 0.05 * loss.item()

acc, loss = evaluate(net, images[test_idx], kinds[test_idx])
share = np.bincount(kinds[test_idx]).max() / len(test_idx)
print(f"test accuracy {acc:.3f} test loss {loss:.3f} (largest class {share:.3f})")
