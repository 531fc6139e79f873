import math
import torch
from torch import nn

torch.manual_seed(4)
MODES, SD, Z, B = 6, 0.08, 8, 256


def real_batch(n):
    k = torch.randint(MODES, (n,))
    angle = 2 * math.pi * k / MODES
    return torch.stack([angle.cos(), angle.sin()], 1) * 1.5 + SD * torch.randn(n, 2)


centres = torch.tensor([[1.5 * math.cos(2 * math.pi * k / MODES), 1.5 * math.sin(2 * math.pi * k / MODES)] for k in range(MODES)])


def mlp(i, o, act):
    return nn.Sequential(nn.Linear(i, 96), act(), nn.Linear(96, 96), act(), nn.Linear(96, o))


G, D = mlp(Z, 2, nn.ReLU), mlp(2, 1, lambda: nn.LeakyReLU(0.2))
opt_g = torch.optim.Adam(G.parameters(), lr=5e-4, betas=(0.5, 0.9))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.9))


@torch.no_grad()
def quality():
    x = G(torch.randn(2000, Z))
    dist, which = torch.cdist(x, centres).min(1)
    good = dist < 4 * SD
    counts = torch.bincount(which[good], minlength=MODES)
    return good.float().mean().item(), int((counts > 40).sum())


print("before: near a mode %.2f, modes found %d" % quality())
for step in range(1, 3001):
    real = real_batch(B)
    fake = G(torch.randn(B, Z)).detach()
    d_loss = torch.relu(1 - D(real)).mean() + torch.relu(1 + D(fake)).mean()
    # zero-centred penalty on real points
    real.requires_grad_(True)
    (grad,) = torch.autograd.grad(D(real).sum(), real, create_graph=True)
    d_loss = d_loss + 0.1 * grad.pow(2).sum(1).mean()
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()

    g_loss = -D(G(torch.randn(B, Z))).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()

    if step % 500 == 0:
        near, modes = quality()
        print(f"step {step}  D {d_loss.item():.3f}  G {g_loss.item():.3f}  near a mode {near:.2f}  modes found {modes}/{MODES}")
