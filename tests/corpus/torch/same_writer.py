import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score


class Embedder(nn.Module):
    """8x8 glyph -> 16 dimensional embedding"""

    def __init__(self, dim=16):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        )
        self.project = nn.Linear(32 * 16, dim)

    def forward(self, x):
        return self.project(self.features(x))


def pair_stream(images, classes, batch_size, rng):
    """endless stream of half matching, half non matching glyph pairs"""
    members = [np.flatnonzero(classes == c) for c in range(10)]
    while True:
        left = rng.integers(0, len(images), batch_size)
        right = np.empty_like(left)
        for j, i in enumerate(left):
            if rng.random() < 0.5:
                right[j] = rng.choice(members[classes[i]])
            else:
                other = (classes[i] + rng.integers(1, 10)) % 10
                right[j] = rng.choice(members[other])
        match = torch.from_numpy(classes[left] == classes[right]).float()
        yield torch.from_numpy(images[left]), torch.from_numpy(images[right]), match


def verify(net, images, classes, rng, n=2000):
    net.eval()
    stream = pair_stream(images, classes, n, rng)
    a, b, match = next(stream)
    with torch.no_grad():
        sim = nn.functional.cosine_similarity(net(a), net(b)).numpy()
    truth = (match > 0).numpy()
    return roc_auc_score(truth, sim), sim[truth].mean(), sim[~truth].mean()


def nearest_prototype(net, train_x, train_y, test_x, test_y):
    net.eval()
    with torch.no_grad():
        ref = nn.functional.normalize(net(torch.from_numpy(train_x)), dim=1)
        qry = nn.functional.normalize(net(torch.from_numpy(test_x)), dim=1)
    protos = torch.stack([ref[torch.from_numpy(train_y == c)].mean(0) for c in range(10)])
    protos = nn.functional.normalize(protos, dim=1)
    return ((qry @ protos.T).argmax(1).numpy() == test_y).mean()


torch.manual_seed(5)
rng = np.random.default_rng(5)
data = load_digits()
images = (data.images / 16.0).astype("float32")[:, None]
perm = rng.permutation(len(images))
tr, te = perm[:1300], perm[1300:]

net = Embedder()
criterion = nn.CosineEmbeddingLoss(margin=0.2)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
stream = pair_stream(images[tr], data.target[tr], 128, rng)

recent = []
for step in range(1, 401):
    net.train()
    a, b, match = next(stream)
    loss = criterion(net(a), net(b), match)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    recent.append(loss.item())
    if step % 100 == 0:
        auc, pos, neg = verify(net, images[te], data.target[te], rng)
        print(f"step {step} loss {np.mean(recent[-100:]):.4f} auc {auc:.3f} sim same {pos:.3f} sim other {neg:.3f}")

acc = nearest_prototype(net, images[tr], data.target[tr], images[te], data.target[te])
print(f"final loss {np.mean(recent[-50:]):.4f} auc {auc:.3f} gap {pos - neg:.3f} prototype acc {acc:.3f}")
