"""Re-identify seals by their spot pattern: batch-hard triplets, P x K batches, soft margin, and an
exponential average of the weights for the evaluation. New individuals in the test set."""
import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Sampler

SIZE = 24


class SealPhotos(Dataset):
    def __init__(self, n_seals, per_seal, seed):
        rng = np.random.default_rng(seed)
        yy, xx = np.mgrid[0:SIZE, 0:SIZE]
        self.x, self.y = [], []
        for s in range(n_seals):
            spots = np.c_[rng.uniform(3, SIZE - 3, (6, 2)), rng.uniform(1.0, 2.2, 6)]
            for _ in range(per_seal):
                ang, scale = rng.normal(0, 0.15), rng.uniform(0.9, 1.1)
                shift = rng.normal(0, 1.0, 2)
                rot = np.array([[np.cos(ang), -np.sin(ang)], [np.sin(ang), np.cos(ang)]]) * scale
                img = rng.uniform(0.3, 0.6) + 0.15 * (xx - SIZE / 2) / SIZE * rng.normal()
                for cx, cy, r in spots:
                    px, py = rot @ (np.array([cx, cy]) - SIZE / 2) + SIZE / 2 + shift
                    img = img - 0.35 * np.exp(-((xx - px) ** 2 + (yy - py) ** 2) / (2 * r * r))
                self.x.append(img + rng.normal(0, 0.08, img.shape))
                self.y.append(s)
        self.x = torch.tensor(np.array(self.x), dtype=torch.float32).unsqueeze(1)
        self.y = torch.tensor(self.y)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class PKSampler(Sampler):
    """Batches of P seals with K photos each."""

    def __init__(self, y, p, k, batches):
        self.by_id = [torch.where(y == c)[0] for c in y.unique()]
        self.p, self.k, self.batches = p, k, batches

    def __len__(self):
        return self.batches

    def __iter__(self):
        for _ in range(self.batches):
            pick = torch.randperm(len(self.by_id))[:self.p]
            yield [int(i) for c in pick for i in self.by_id[c][torch.randperm(len(self.by_id[c]))[:self.k]]]


class Net(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        layers, c = [], 1
        for o in (24, 48, 64):
            layers += [nn.Conv2d(c, o, 3, padding=1), nn.GroupNorm(4, o), nn.SiLU(), nn.MaxPool2d(2)]
            c = o
        self.conv = nn.Sequential(*layers)
        self.fc = nn.Linear(64 * 9, dim, bias=False)

    def forward(self, x):
        x = (x - x.mean((2, 3), keepdim=True)) / (x.std((2, 3), keepdim=True) + 1e-4)
        return F.normalize(self.fc(self.conv(x).flatten(1)), dim=1)


def batch_hard(e, y, scale=6.0):
    d = torch.cdist(e, e)
    same = y[:, None] == y[None]
    far_friend = (d * same).max(1).values
    near_stranger = d.masked_fill(same, 9.0).min(1).values
    return F.softplus(scale * (far_friend - near_stranger)).mean()


@torch.no_grad()
def rank1(model, ds):
    """First photo of each seal is the gallery, the rest are queries."""
    model.eval()
    e = model(ds.x)
    first = torch.tensor([int(torch.where(ds.y == c)[0][0]) for c in ds.y.unique()])
    query = torch.ones(len(ds), dtype=torch.bool)
    query[first] = False
    near = torch.cdist(e[query], e[first]).argmin(1)
    return (ds.y[first][near] == ds.y[query]).float().mean().item()


def main():
    torch.manual_seed(4)
    train, test = SealPhotos(300, 6, 1), SealPhotos(80, 6, 2)
    model = Net()
    average = copy.deepcopy(model).requires_grad_(False)
    opt = torch.optim.RAdam(model.parameters(), lr=2e-3)
    loader = DataLoader(train, batch_sampler=PKSampler(train.y, p=12, k=3, batches=45))
    print(f"untrained rank-1 {rank1(model, test):.3f}  chance {1 / 80:.4f}")
    for epoch in range(9):
        model.train()
        total = 0.0
        for x, y in loader:
            loss = batch_hard(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
            with torch.no_grad():
                for a, b in zip(average.parameters(), model.parameters()):
                    a.lerp_(b, 0.02)
        print(f"epoch {epoch}  loss {total / len(loader):.3f}  rank-1 {rank1(model, test):.3f}"
              f"  (average {rank1(average, test):.3f})")
    print(f"FINAL rank-1 on unseen seals, averaged weights: {rank1(average, test):.3f}")


if __name__ == "__main__":
    main()
