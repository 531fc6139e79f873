import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Function

torch.manual_seed(6)
g = torch.Generator().manual_seed(6)
VOWELS = 5
prototypes = torch.randn(VOWELS, 20, generator=g) * 1.1
accent = torch.randn(20, generator=g) * 1.0


def speakers(n, shifted):
    y = torch.randint(VOWELS, (n,), generator=g)
    x = prototypes[y] + 1.4 * torch.randn(n, 20, generator=g)
    if shifted:
        x = x + accent
    return x, y


class Reverse(Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.strength * grad, None


class DomainNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.vowel = nn.Linear(32, VOWELS)
        self.domain = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x, strength=0.0):
        h = self.features(x)
        return self.vowel(h), self.domain(Reverse.apply(h, strength)).squeeze(1)


xs, ys = speakers(2000, shifted=False)
xt, _ = speakers(1000, shifted=True)
xv, yv = speakers(500, shifted=True)
xh, yh = speakers(500, shifted=False)

net = DomainNet()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
epochs = 20

for epoch in range(epochs):
    strength = 0.6 * (2 / (1 + math.exp(-8 * epoch / epochs)) - 1)
    net.train()
    class_sum = domain_sum = 0.0
    source = torch.randperm(len(xs)).split(64)
    target = torch.randperm(len(xt)).split(32)
    for i, j in zip(source, target):
        vowels, side_s = net(xs[i], strength)
        _, side_t = net(xt[j], strength)
        class_loss = F.cross_entropy(vowels, ys[i])
        domain_loss = 0.5 * (
            F.binary_cross_entropy_with_logits(side_s, torch.zeros_like(side_s))
            + F.binary_cross_entropy_with_logits(side_t, torch.ones_like(side_t))
        )
        optimizer.zero_grad()
        (class_loss + domain_loss).backward()
        optimizer.step()
        class_sum += class_loss.item()
        domain_sum += domain_loss.item()
    net.eval()
    with torch.no_grad():
        home = (net(xh)[0].argmax(1) == yh).float().mean()
        away = (net(xv)[0].argmax(1) == yv).float().mean()
    n = min(len(source), len(target))
    print(f"epoch {epoch + 1:2d} vowel loss {class_sum / n:.3f} domain loss {domain_sum / n:.3f} source acc {home:.3f} target acc {away:.3f}")
