"""Textures told apart with a random, frozen filter bank: only batch statistics and the linear head adapt."""
import math

import torch
from torch import nn

torch.manual_seed(6)


def textures(n, size=24):
    kind = torch.randint(0, 4, (n,))
    angle = kind * math.pi / 4 + 0.1 * torch.randn(n)
    phase = 2 * math.pi * torch.rand(n)
    freq = 0.9 + 0.2 * torch.rand(n)
    yy, xx = torch.meshgrid(torch.arange(size).float(), torch.arange(size).float(), indexing="ij")
    wave = (torch.cos(angle)[:, None, None] * xx + torch.sin(angle)[:, None, None] * yy) * freq[:, None, None]
    img = torch.sin(wave + phase[:, None, None]) + 2.5 * torch.randn(n, size, size)
    return img.unsqueeze(1), kind


class FilterBank(nn.Module):
    def __init__(self, filters=64):
        super().__init__()
        self.conv = nn.Conv2d(1, filters, 7, stride=2)
        for p in self.conv.parameters():
            p.requires_grad_(False)
        self.norm = nn.BatchNorm1d(filters)

    def forward(self, x):
        with torch.no_grad():
            energy = self.conv(x).pow(2).mean((2, 3)).log1p()
        return self.norm(energy)


class TextureNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.bank = FilterBank()
        self.head = nn.Linear(64, 4)

    def forward(self, x):
        return self.head(self.bank(x))


train_x, train_y = textures(8000)
test_x, test_y = textures(1000)
net = TextureNet()
learned = [p for p in net.parameters() if p.requires_grad]
print("trained", sum(p.numel() for p in learned), "of", sum(p.numel() for p in net.parameters()))
opt = torch.optim.Adam(learned, lr=1e-2)
for epoch in range(20):
    net.train()
    total = 0.0
    for idx in torch.randperm(len(train_x)).split(100):
        loss = nn.functional.cross_entropy(net(train_x[idx]), train_y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    net.eval()
    with torch.no_grad():
        acc = (net(test_x).argmax(1) == test_y).float().mean().item()
    print(f"epoch {epoch} loss {total / len(train_x):.4f} test {acc:.3f}")
