"""Siamese verification: do two small, shifted, noisy images show the same digit?"""
import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(5)
BATCH, EPOCHS, MARGIN = 64, 7, 0.2


def shift_and_noise(img, rng):
    canvas = rng.normal(0, 0.2, (10, 10)).astype(np.float32)
    r, c = rng.integers(0, 3, 2)
    canvas[r:r + 8, c:c + 8] += img
    return canvas * rng.uniform(0.6, 1.4)


class PairSet(Dataset):
    """Half of the pairs come from one class, half from two."""

    def __init__(self, images, labels, n_pairs, seed):
        self.images, self.labels = images, labels
        self.by_class = {c: np.flatnonzero(labels == c) for c in np.unique(labels)}
        rng = np.random.default_rng(seed)
        classes = list(self.by_class)
        self.pairs = []
        for k in range(n_pairs):
            if k % 2 == 0:
                c = rng.choice(classes)
                i, j = rng.choice(self.by_class[c], 2, replace=False)
            else:
                c1, c2 = rng.choice(classes, 2, replace=False)
                i, j = rng.choice(self.by_class[c1]), rng.choice(self.by_class[c2])
            self.pairs.append((i, j))
        self.a = np.stack([shift_and_noise(images[i], rng) for i, _ in self.pairs])
        self.b = np.stack([shift_and_noise(images[j], rng) for _, j in self.pairs])

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, k):
        i, j = self.pairs[k]
        same = 1.0 if self.labels[i] == self.labels[j] else 0.0
        return torch.from_numpy(self.a[k])[None], torch.from_numpy(self.b[k])[None], torch.tensor(same)


class Tower(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(32 * 4, dim),
        )

    def forward(self, x):
        return self.features(x)


def verify(net, loader):
    net.eval()
    sims, same = [], []
    with torch.no_grad():
        for a, b, y in loader:
            sims.append(torch.cosine_similarity(net(a), net(b)))
            same.append(y > 0)
    return torch.cat(sims).numpy(), torch.cat(same).numpy()


digits = load_digits()
images = (digits.images / 16.0).astype(np.float32)
order = np.random.default_rng(5).permutation(len(images))
tr, te = order[:1300], order[1300:]
train_set = PairSet(images[tr], digits.target[tr], 4000, seed=1)
test_set = PairSet(images[te], digits.target[te], 1500, seed=2)
train_loader = DataLoader(train_set, batch_size=BATCH, shuffle=True)
test_loader = DataLoader(test_set, batch_size=500)

net = Tower()
criterion = nn.CosineEmbeddingLoss(margin=MARGIN)
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)

for epoch in range(EPOCHS):
    net.train()
    total = 0.0
    for a, b, y in train_loader:
        loss = criterion(net(a), net(b), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
    if epoch % 3 == 0 or epoch == EPOCHS - 1:
        print(f"epoch {epoch:2d}  train loss {total / len(train_set):.4f}")

sims, same = verify(net, test_loader)
raw = torch.cosine_similarity(torch.from_numpy(test_set.a).flatten(1), torch.from_numpy(test_set.b).flatten(1))
print(f"held-out pairs: accuracy at cosine 0.5 {np.mean((sims > 0.5) == same):.3f} (always-one-answer 0.500)")
print(f"held-out pairs: roc auc {roc_auc_score(same, sims):.3f} (raw pixels {roc_auc_score(same, raw.numpy()):.3f})")
