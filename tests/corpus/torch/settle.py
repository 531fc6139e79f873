"""Deep equilibrium classifier: the solver runs without a graph, one more application carries the gradient."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, default=64)
parser.add_argument("--tol", type=float, default=1e-2)
parser.add_argument("--max-iter", type=int, default=30)
parser.add_argument("--phantom", type=int, default=2)
parser.add_argument("--epochs", type=int, default=25)
args = parser.parse_args()
torch.manual_seed(6)


def arms(n, turns=1.25, k=3):
    y = torch.randint(0, k, (n,))
    r = torch.rand(n).sqrt() * 0.95 + 0.05
    a = 2 * torch.pi * (turns * r + y / k) + 0.12 * torch.randn(n)
    return 2 * torch.stack([r * a.cos(), r * a.sin()], 1), y


class Cell(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.u = nn.Linear(d, d)
        self.w = nn.Linear(d, d, bias=False)
        self.norm = nn.LayerNorm(d)
        nn.init.orthogonal_(self.w.weight, gain=0.6)

    def forward(self, z, x):
        return torch.tanh(self.norm(0.4 * self.w(z) + self.u(x)))


class Equilibrium(nn.Module):
    def __init__(self, d, k=3):
        super().__init__()
        self.inject = nn.Sequential(nn.Linear(2, d), nn.SiLU())
        self.cell = Cell(d)
        self.head = nn.Linear(d, k)
        self.iters = 0

    def forward(self, x):
        x = self.inject(x)
        with torch.no_grad():
            z = torch.zeros_like(x)
            for i in range(args.max_iter):
                nxt = 0.5 * z + 0.5 * self.cell(z, x)
                gap = (nxt - z).norm() / (nxt.norm() + 1e-6)
                z = nxt
                if gap < args.tol:
                    break
            self.iters = i + 1
        z = z.detach()
        for _ in range(args.phantom):
            z = 0.5 * z + 0.5 * self.cell(z, x)
        return self.head(z)


xtr, ytr = arms(3000)
xte, yte = arms(800)
net = Equilibrium(args.width)
opt = torch.optim.AdamW(net.parameters(), lr=4e-3, weight_decay=1e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs)

for epoch in range(args.epochs):
    net.train()
    total = 0.0
    for b in torch.randperm(len(xtr)).split(75):
        loss = F.cross_entropy(net(xtr[b]), ytr[b])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        total += loss.item() * len(b)
    sched.step()
    if epoch % 4 == 0 or epoch == args.epochs - 1:
        net.eval()
        with torch.no_grad():
            acc = (net(xte).argmax(1) == yte).float().mean().item()
        print(f"epoch {epoch:2d} loss {total / len(xtr):.3f} test acc {acc:.3f} solver steps {net.iters}")
