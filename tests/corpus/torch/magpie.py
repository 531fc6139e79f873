# Siamese embedding of digits with a contrastive loss, scored with 1-nearest-neighbour
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.manual_seed(0)
rng = np.random.RandomState(0)
X, y = load_digits(return_X_y=True)
X = (X / 16.0).astype(np.float32)
Xtr, Xte, ytr, yte = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
by_class = [np.where(ytr == c)[0] for c in range(10)]


def sample_pairs(n):
    left, right, same = [], [], []
    for _ in range(n):
        c = rng.randint(10)
        if rng.rand() < 0.5:
            left.append(rng.choice(by_class[c]))
            right.append(rng.choice(by_class[c]))
            same.append(1.0)
        else:
            d = (c + rng.randint(1, 10)) % 10
            left.append(rng.choice(by_class[c]))
            right.append(rng.choice(by_class[d]))
            same.append(0.0)
    return torch.from_numpy(Xtr[left]), torch.from_numpy(Xtr[right]), torch.tensor(same)


class Encoder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.c1 = nn.Conv2d(1, 16, 3, padding=1)
        self.c2 = nn.Conv2d(16, 32, 3, padding=1)
        self.fc = nn.Linear(32 * 4, dim)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.c1(x.view(-1, 1, 8, 8))), 2)
        x = F.max_pool2d(F.relu(self.c2(x)), 2)
        return self.fc(x.flatten(1))


def contrastive(a, b, same, margin=2.0):
    dist = (a - b).pow(2).sum(dim=1).sqrt()
    return (same * dist ** 2 + (1 - same) * F.relu(margin - dist) ** 2).mean()


net = Encoder()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(1, 601):
    a, b, same = sample_pairs(64)
    loss = contrastive(net(a), net(b), same)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 0:
        with torch.no_grad():
            ref, query = net(torch.from_numpy(Xtr)), net(torch.from_numpy(Xte))
        nearest = torch.cdist(query, ref).argmin(1).numpy()
        print(f"step {step} loss {loss.item():.4f} 1-nn accuracy {(ytr[nearest] == yte).mean():.3f}")
