"""Pretrain a small CNN on four fabric weaves, then reuse the features for three new ones."""
import math
import torch
from torch import nn, optim
from torch.utils.data import TensorDataset, DataLoader

SIZE = 24


def weave(angle, freq, n, g):
    """n grey patches of a weave, seen at a random shift, light and slight rotation"""
    yy, xx = torch.meshgrid(torch.arange(SIZE).float(), torch.arange(SIZE).float(), indexing="ij")
    a = angle + 0.08 * torch.randn(n, 1, 1, generator=g)
    ph = 2 * math.pi * torch.rand(n, 1, 1, generator=g)
    wave = torch.sin(freq * (torch.cos(a) * xx + torch.sin(a) * yy) + ph)
    img = wave * (0.6 + 0.4 * torch.rand(n, 1, 1, generator=g))
    return (img + 0.5 * torch.randn(n, SIZE, SIZE, generator=g)).unsqueeze(1)


def make_set(specs, per_class, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.cat([weave(a, f, per_class, g) for a, f in specs])
    y = torch.arange(len(specs)).repeat_interleave(per_class)
    return TensorDataset(x, y)


OLD = [(0.0, 0.6), (math.pi / 2, 0.6), (math.pi / 4, 1.2), (3 * math.pi / 4, 1.2)]
NEW = [(0.0, 1.3), (math.pi / 2, 1.3), (math.pi / 4, 0.7)]


class WeaveNet(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 12, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(),
        )
        self.head = nn.Linear(128, n_classes)

    def forward(self, x):
        return self.head(self.features(x))


def accuracy(net, loader):
    net.eval()
    with torch.no_grad():
        good = sum((net(x).argmax(1) == y).sum().item() for x, y in loader)
    return good / len(loader.dataset)


def fit(net, optimizer, train, test, epochs, tag):
    ce = nn.CrossEntropyLoss()
    for ep in range(epochs):
        net.train()
        tot = 0
        for x, y in train:
            optimizer.zero_grad()
            loss = ce(net(x), y)
            loss.backward()
            optimizer.step()
            tot += loss.item()
        print(f"{tag} epoch {ep + 1}: loss {tot / len(train):.3f}  test acc {accuracy(net, test):.3f}")


def pretrain():
    train = DataLoader(make_set(OLD, 300, seed=1), batch_size=40, shuffle=True)
    test = DataLoader(make_set(OLD, 60, seed=2), batch_size=120)
    net = WeaveNet(len(OLD))
    fit(net, optim.Adam(net.parameters(), lr=1e-3), train, test, 5, "pretrain")
    return net


def finetune(net):
    # only 40 labelled patches per new weave, so keep the features and learn a new classifier
    train = DataLoader(make_set(NEW, 40, seed=3), batch_size=20, shuffle=True)
    test = DataLoader(make_set(NEW, 200, seed=4), batch_size=200)
    for p in net.parameters():
        p.requires_grad = False
    optimizer = optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    net.head = nn.Linear(net.head.in_features, len(NEW))
    fit(net, optimizer, train, test, 12, "finetune")


if __name__ == "__main__":
    torch.manual_seed(5)
    finetune(pretrain())
