"""Embed handwritten digits with a triplet loss; follow how far the class centres drift."""
import resource

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn


class Embedder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Conv2d(32, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2))
        self.fc = nn.Linear(32 * 16, dim)

    def forward(self, x):
        return F.normalize(self.fc(self.conv(x).flatten(1)), dim=1)


class TripletSampler:
    def __init__(self, x, y, seed):
        self.x, self.y = x, y
        self.rng = np.random.default_rng(seed)
        self.by_class = [np.flatnonzero(y.numpy() == c) for c in range(10)]

    def sample(self, n):
        a, p, m = [], [], []
        for _ in range(n):
            c, d = self.rng.choice(10, 2, replace=False)
            i, j = self.rng.choice(self.by_class[c], 2, replace=False)
            a.append(i), p.append(j), m.append(self.rng.choice(self.by_class[d]))
        return self.x[a], self.x[p], self.x[m]


def class_centres(net, x, y):
    net.eval()
    emb = net(x)
    net.train()
    return torch.stack([emb[y == c].mean(0) for c in range(10)])


class CentreHistory:
    def __init__(self):
        self.centres = []

    def add(self, centres):
        self.centres.append(centres)

    def drift(self):
        if len(self.centres) < 2:
            return 0.0
        return (self.centres[-1] - self.centres[-2]).norm(dim=1).mean().item()


def knn_accuracy(net, x_train, y_train, x_test, y_test, k=5):
    net.eval()
    with torch.no_grad():
        d = torch.cdist(net(x_test), net(x_train))
        near = y_train[d.topk(k, largest=False).indices]
    return (near.mode(dim=1).values == y_test).float().mean().item()


def megabytes():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize() / 2**20


def main():
    torch.manual_seed(4)
    digits = load_digits()
    xtr, xte, ytr, yte = train_test_split(digits.images / 16.0, digits.target, test_size=0.25,
                                          random_state=4, stratify=digits.target)
    xtr = torch.tensor(xtr, dtype=torch.float32).unsqueeze(1)
    xte = torch.tensor(xte, dtype=torch.float32).unsqueeze(1)
    ytr, yte = torch.tensor(ytr), torch.tensor(yte)

    net = Embedder()
    loss_fn = nn.TripletMarginLoss(margin=0.4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    steps, every = 400, 20
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.1, total_steps=steps)
    sampler, history = TripletSampler(xtr, ytr, 4), CentreHistory()
    start = megabytes()
    for step in range(1, steps + 1):
        a, p, n = sampler.sample(32)
        opt.zero_grad()
        loss = loss_fn(net(a), net(p), net(n))
        loss.backward()
        opt.step()
        sched.step()
        if step % every == 0:
            history.add(class_centres(net, xtr, ytr))
        if step % 80 == 0:
            print(f"step {step} loss {loss.item():.4f} drift {history.drift():.4f} "
                  f"lr {sched.get_last_lr()[0]:.4f} rss {megabytes():.0f} MB")
    acc = knn_accuracy(net, xtr, ytr, xte, yte)
    print(f"5-nn test accuracy {acc:.4f}")
    print(f"memory grown by {megabytes() - start:.0f} MB over {steps} steps")


if __name__ == "__main__":
    main()
