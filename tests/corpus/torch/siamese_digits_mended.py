import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class PairSampler:
    """Draws balanced batches of same-class and different-class pairs."""

    def __init__(self, images, labels, seed=0):
        self.images = images
        self.labels = labels
        self.rng = np.random.default_rng(seed)
        self.by_class = {c: np.flatnonzero(labels == c) for c in np.unique(labels)}

    def batch(self, size):
        left, right, same = [], [], []
        classes = list(self.by_class)
        for i in range(size):
            a = self.rng.choice(classes)
            if i % 2 == 0:
                b = a
            else:
                b = self.rng.choice([c for c in classes if c != a])
            left.append(self.rng.choice(self.by_class[a]))
            right.append(self.rng.choice(self.by_class[b]))
            same.append(float(a == b))
        return self.images[left], self.images[right], torch.tensor(same)


class Embedder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.fc = nn.Linear(32 * 2 * 2, dim)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(x.flatten(1))


def pair_distance(u, v):
    return torch.sqrt(((u - v) ** 2).sum(dim=1) + 1e-8)


def contrastive_loss(u, v, same, margin=1.0):
    d = pair_distance(u, v)
    pull = same * d ** 2
    push = (1 - same) * F.relu(margin - d) ** 2
    return (pull + push).mean()


@torch.no_grad()
def nearest_neighbour_accuracy(model, gallery, gallery_y, query, query_y):
    model.eval()
    dist = torch.cdist(model(query), model(gallery))
    guess = gallery_y[dist.argmin(dim=1).numpy()]
    return float((guess == query_y).mean())


def main(steps=600, batch_size=64):
    torch.manual_seed(1)
    digits = load_digits()
    images = torch.tensor(digits.images / 16.0, dtype=torch.float32)[:, None]
    idx_tr, idx_te = train_test_split(np.arange(len(images)), test_size=0.3,
                                      random_state=1, stratify=digits.target)
    y_tr, y_te = digits.target[idx_tr], digits.target[idx_te]
    sampler = PairSampler(images[idx_tr], y_tr)

    model = Embedder()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    history = []
    for step in range(1, steps + 1):
        a, b, same = sampler.batch(batch_size)
        loss = contrastive_loss(model(a), model(b), same)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.item())
        if step % 100 == 0:
            print(f"step {step:4d}  contrastive loss {np.mean(history[-100:]):.4f}")

    acc = nearest_neighbour_accuracy(model, images[idx_tr], y_tr, images[idx_te], y_te)
    print(f"1-NN accuracy in embedding space: {acc:.3f}")


if __name__ == "__main__":
    main()
