import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

torch.manual_seed(0)
rng = np.random.default_rng(0)

digits = load_digits()
X = torch.tensor(digits.images / 16.0, dtype=torch.float32).unsqueeze(1)
y = digits.target
train_idx, test_idx = np.arange(1300), np.arange(1300, len(y))
by_class = {c: train_idx[y[train_idx] == c] for c in range(10)}


def sample_pairs(n):
    left, right, same = [], [], []
    for _ in range(n):
        c = rng.integers(10)
        if rng.random() < 0.5:
            a, b = rng.choice(by_class[c]), rng.choice(by_class[c])
            same.append(1.0)
        else:
            d = (c + rng.integers(1, 10)) % 10
            a, b = rng.choice(by_class[c]), rng.choice(by_class[d])
            same.append(0.0)
        left.append(a)
        right.append(b)
    return X[left], X[right], torch.tensor(same)


class Encoder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.fc = nn.Linear(32 * 4, dim)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(x.flatten(1))


def contrastive_loss(a, b, same, margin=1.0):
    dist = torch.sqrt(((a - b) ** 2).sum(dim=1))
    return (same * dist ** 2 + (1 - same) * F.relu(margin - dist) ** 2).mean()


net = Encoder()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(1, 601):
    a, b, same = sample_pairs(64)
    loss = contrastive_loss(net(a), net(b), same)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step == 1 or step % 100 == 0:
        print(f"step {step:4d}  loss {loss.item():.4f}")

net.eval()
with torch.no_grad():
    emb = torch.nan_to_num(net(X)).numpy()
knn = KNeighborsClassifier(3).fit(emb[train_idx], y[train_idx])
print("knn accuracy on the embedding: %.3f" % knn.score(emb[test_idx], y[test_idx]))
