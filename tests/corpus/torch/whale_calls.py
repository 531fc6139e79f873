"""Whale call types from raw audio: a fixed bank of windowed sinusoids, then a small trained head."""
import math
import torch
from torch import nn


class Bank(nn.Module):
    """Cosine and sine filters at log-spaced pitches; never trained."""

    def __init__(self, n=24, size=128, rate=2000):
        super().__init__()
        hz = torch.logspace(math.log10(40), math.log10(900), n)
        t = (torch.arange(size) - size / 2) / rate
        win = torch.hann_window(size)
        phase = 2 * math.pi * hz[:, None] * t
        self.conv = nn.Conv1d(1, 2 * n, size, stride=32, bias=False)
        self.conv.weight.data.copy_(torch.cat([phase.cos() * win, phase.sin() * win]).unsqueeze(1))
        for p in self.parameters():
            p.requires_grad_(False)

    def forward(self, x):
        c, s = self.conv(x.unsqueeze(1)).chunk(2, 1)
        return torch.log1p(c ** 2 + s ** 2)


class CallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.bank = Bank()
        self.head = nn.Sequential(nn.BatchNorm1d(24), nn.Conv1d(24, 32, 3, padding=1), nn.ReLU(),
                                  nn.Conv1d(32, 32, 3, padding=1, dilation=1), nn.ReLU(), nn.AdaptiveMaxPool1d(4),
                                  nn.Flatten(), nn.Linear(128, 4))

    def forward(self, x):
        with torch.no_grad():
            f = self.bank(x)
        return self.head(f)


def calls(n, gen):
    y = torch.randint(0, 4, (n,), generator=gen)
    t = torch.linspace(0, 1, 2000)
    lo = torch.rand(n, 1, generator=gen) * 60 + 90
    hi = lo * 3
    a = torch.where((y == 1)[:, None], hi, lo)
    b = torch.where((y == 0)[:, None] | (y == 3)[:, None], hi, lo)
    b = torch.where((y == 2)[:, None], lo, b)
    f = a + (b - a) * t
    f = torch.where((y == 3)[:, None], lo + (hi - lo) * (1 - (2 * t - 1).abs()), f)   # up, down, flat, up-and-down
    x = torch.sin(2 * math.pi * torch.cumsum(f, 1) / 2000)
    return x + 0.8 * torch.randn(n, 2000, generator=gen), y


gen = torch.Generator().manual_seed(3)
torch.manual_seed(3)
xt, yt = calls(1600, gen)
xv, yv = calls(400, gen)
net = CallNet()
opt = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=2e-3)
print("trained:", sum(p.numel() for p in net.parameters() if p.requires_grad), "of", sum(p.numel() for p in net.parameters()))
for ep in range(20):
    net.train()
    run = 0.0
    for k in torch.randperm(len(xt)).split(32):
        loss = nn.functional.cross_entropy(net(xt[k]), yt[k], label_smoothing=0.05)
        opt.zero_grad()
        loss.backward()
        opt.step()
        run += loss.item() * len(k)
    net.eval()
    with torch.no_grad():
        print(ep, round(run / len(xt), 4), "acc", (net(xv).argmax(1) == yv).float().mean().item())
