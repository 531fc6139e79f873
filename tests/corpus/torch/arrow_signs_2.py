# Read the direction of arrows painted on a warehouse floor: left, right, straight on, back
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(8)
np.random.seed(8)
NAMES = ["left", "right", "ahead", "back"]
S = 20


def draw(direction):
    img = np.zeros((S, S), dtype=np.float32)
    c, mid = S // 2 + np.random.randint(-2, 3, 2)
    n = np.random.randint(5, 8)
    img[c - 1:c + 1, mid - n:mid + n] = 1.0
    tip = mid - n
    for k in range(5):
        lo, hi = max(c - 1 - k, 0), min(c + k, S - 1)
        if 0 <= tip + k < S:
            img[lo, tip + k] = 1.0
            img[hi, tip + k] = 1.0
    turns = {"left": 0, "back": 1, "right": 2, "ahead": 3}[direction]
    img = np.rot90(img, turns).copy()
    img *= np.random.uniform(0.6, 1.0)
    img += np.random.normal(0, 0.12, img.shape)
    return img.astype(np.float32)


def dataset(n):
    y = np.random.randint(0, 4, n)
    x = np.stack([draw(NAMES[i]) for i in y])[:, None]
    return torch.from_numpy(x), torch.from_numpy(y)


class Augment:
    def __init__(self, flip=0.5, shift=2, noise=0.05):
        self.flip, self.shift, self.noise = flip, shift, noise

    def __call__(self, x):
        swap = torch.rand(len(x)) < self.flip
        x = torch.where(swap[:, None, None, None], x.flip(-1), x)
        dx, dy = np.random.randint(-self.shift, self.shift + 1, 2)
        x = torch.roll(x, (int(dy), int(dx)), dims=(-2, -1))
        return x + self.noise * torch.randn_like(x)


net = nn.Sequential(
    nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(24 * 25, 48), nn.ReLU(), nn.Dropout(0.2), nn.Linear(48, 4),
)
xtr, ytr = dataset(2000)
xte, yte = dataset(600)
augment = Augment(flip=0.5)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
crit = nn.CrossEntropyLoss()

for epoch in range(12):
    net.train()
    losses = []
    for idx in torch.randperm(len(xtr)).split(50):
        opt.zero_grad()
        loss = crit(net(augment(xtr[idx])), ytr[idx])
        loss.backward()
        opt.step()
        losses.append(loss.item())
    net.eval()
    with torch.no_grad():
        guess = net(xte).argmax(1)
    print(f"epoch {epoch + 1:2d}  loss {np.mean(losses):.3f}  test accuracy {(guess == yte).float().mean():.3f}")

table = torch.zeros(4, 4, dtype=torch.long)
for a, b in zip(yte, guess):
    table[a, b] += 1
print("rows true, columns predicted:", NAMES)
print(table)
