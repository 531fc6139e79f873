"""Species from leaf measurements; field labels are unreliable, the checked set is small."""
import math

import torch
import torch.nn as nn

torch.manual_seed(8)
N_SPECIES, N_TRAITS = 4, 20


def herbarium(n, centers, noise=0.0):
    y = torch.randint(0, N_SPECIES, (n,))
    x = centers[y] + 1.6 * torch.randn(n, N_TRAITS)
    given = y.clone()
    flip = torch.rand(n) < noise
    given[flip] = torch.randint(0, N_SPECIES, (int(flip.sum()),))
    return x, given


centers = torch.randn(N_SPECIES, N_TRAITS) * 0.9
x_train, y_train = herbarium(700, centers, noise=0.5)
x_val, y_val = herbarium(300, centers)
x_test, y_test = herbarium(1500, centers)


class LeafNet(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(N_TRAITS, width), nn.GELU(),
            nn.Linear(width, width), nn.GELU(),
            nn.Linear(width, N_SPECIES),
        )

    def forward(self, x):
        return self.layers(x)


def accuracy(net, x, y):
    net.eval()
    with torch.no_grad():
        return (net(x).argmax(1) == y).float().mean().item()


class Fitter:
    def __init__(self, net, lr=1e-3, batch=32):
        self.net = net
        self.opt = torch.optim.Adam(net.parameters(), lr=lr)
        self.batch = batch
        self.best_score = -math.inf
        self.best_epoch = None
        self.best_weights = None

    def run_epoch(self):
        self.net.train()
        order = torch.randperm(len(x_train))
        total = 0.0
        for idx in order.split(self.batch):
            loss = nn.functional.cross_entropy(self.net(x_train[idx]), y_train[idx])
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total += loss.item() * len(idx)
        return total / len(x_train)

    def fit(self, epochs):
        for ep in range(epochs):
            tr = self.run_epoch()
            score = accuracy(self.net, x_val, y_val)
            if score > self.best_score:
                self.best_score, self.best_epoch = score, ep
                self.best_weights = self.net.state_dict()
            if ep % 10 == 0:
                print(f"{ep:3d}  train loss {tr:.3f}  val acc {score:.3f}")
        self.net.load_state_dict(self.best_weights)
        return self.best_score


net = LeafNet()
fitter = Fitter(net)
best = fitter.fit(100)
print(f"best val accuracy {best:.3f} at epoch {fitter.best_epoch}")
print(f"test accuracy of the kept model {accuracy(net, x_test, y_test):.3f}")
