"""Read the hour off a tiny clock picture. Plain SGD, normalised inputs, LayerNorm inside."""
import math
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(6)
S = 14


def clocks(n):
    hour = torch.randint(12, (n,))
    angle = hour * (2 * math.pi / 12) + 0.08 * torch.randn(n)
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, S), torch.linspace(-1, 1, S), indexing="ij")
    dx, dy = torch.sin(angle).view(-1, 1, 1), -torch.cos(angle).view(-1, 1, 1)
    along = xx * dx + yy * dy
    across = (xx * dy - yy * dx).abs()
    img = ((along > 0) & (along < 0.8)).float() * torch.exp(-(across / 0.18) ** 2)
    return (img + 0.3 * torch.randn(n, S, S)).flatten(1), hour


x, y = clocks(24000)
xt, yt = clocks(1500)
m, s = x.mean(), x.std()
x, xt = (x - m) / s, (xt - m) / s

model = nn.Sequential(
    nn.Linear(S * S, 128), nn.LayerNorm(128), nn.Tanh(),
    nn.Linear(128, 64), nn.LayerNorm(64), nn.Tanh(),
    nn.Linear(64, 12),
)
nn.init.zeros_(model[-1].weight)
nn.init.zeros_(model[-1].bias)

EPOCHS, BATCH = 60, 128
steps = EPOCHS * (len(x) // BATCH)
opt = torch.optim.SGD(model.parameters(), lr=0.8)
sched = torch.optim.lr_scheduler.LambdaLR(
    opt, lambda k: min(1.0, (k + 1) / 60) * (1 - k / steps) if k < steps else 0.0)

for epoch in range(EPOCHS):
    model.train()
    tot = 0.0
    for idx in torch.randperm(len(x)).split(BATCH):
        loss = F.cross_entropy(model(x[idx]), y[idx])
        model.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        sched.step()
        tot += loss.item() * len(idx)
    if (epoch + 1) % 5 == 0:
        model.eval()
        with torch.no_grad():
            acc = (model(xt).argmax(1) == yt).float().mean().item()
        print(f"epoch {epoch + 1} loss {tot / len(x):.4f} acc {acc:.3f} lr {sched.get_last_lr()[0]:.3f}")
