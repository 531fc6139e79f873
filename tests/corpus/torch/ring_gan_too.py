# GAN on the classic ring of 8 gaussians
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)

MODES = 8
centres = torch.tensor([[math.cos(2 * math.pi * k / MODES), math.sin(2 * math.pi * k / MODES)] for k in range(MODES)])


def real_batch(n):
    which = torch.randint(0, MODES, (n,))
    return centres[which] * 2 + 0.08 * torch.randn(n, 2)


G = nn.Sequential(nn.Linear(4, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 2))
D = nn.Sequential(nn.Linear(2, 96), nn.LeakyReLU(0.2), nn.Linear(96, 96), nn.LeakyReLU(0.2), nn.Linear(96, 1))

opt_g = torch.optim.Adam(G.parameters(), lr=5e-4, betas=(0.5, 0.9))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.9))
BATCH = 256
R1_WEIGHT = 0.1


def coverage(n=2000):
    with torch.no_grad():
        pts = G(torch.randn(n, 4))
    dist = torch.cdist(pts, centres * 2)
    near = dist.min(dim=1)
    good = near.values < 0.4
    hit = torch.bincount(near.indices[good], minlength=MODES)
    return (hit > n / 80).sum().item(), good.float().mean().item()


for step in range(1, 3501):
    # discriminator: logistic loss and R1 penalty on the real points
    real = real_batch(BATCH).requires_grad_(True)
    fake = G(torch.randn(BATCH, 4)).detach()
    real_score = D(real)
    loss_d = F.softplus(-real_score).mean() + F.softplus(D(fake)).mean()
    grad = torch.autograd.grad(real_score.sum(), real, create_graph=True)[0]
    loss_d = loss_d + 0.5 * R1_WEIGHT * grad.pow(2).sum(dim=1).mean()
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()

    # generator
    loss_g = F.softplus(-D(G(torch.randn(BATCH, 4)))).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()

    if step % 500 == 0:
        modes, share = coverage()
        print(f"step {step}: D {loss_d.item():.3f}  G {loss_g.item():.3f}  modes {modes}/8  points on the ring {share:.2f}")
