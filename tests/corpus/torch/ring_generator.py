"""GAN on a ring of eight gaussians: hinge loss, spectral norm, two time scales."""
import copy
import math

import torch
import torch.nn as nn
from torch.nn.utils.parametrizations import spectral_norm

torch.manual_seed(41)
Z, BATCH, STEPS = 8, 96, 1500
ANGLES = torch.arange(8) * (2 * math.pi / 8)
CENTRES = 1.5 * torch.stack([ANGLES.cos(), ANGLES.sin()], 1)


def ring(n, gen=None):
    k = torch.randint(0, 8, (n,), generator=gen)
    return CENTRES[k] + 0.15 * torch.randn(n, 2, generator=gen)


class Generator(nn.Module):
    def __init__(self, h=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(Z, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, 2))

    def forward(self, n, gen=None):
        return self.net(torch.randn(n, Z, generator=gen))


class Critic(nn.Module):
    def __init__(self, h=96):
        super().__init__()
        sn = spectral_norm
        self.net = nn.Sequential(sn(nn.Linear(2, h)), nn.LeakyReLU(0.2), sn(nn.Linear(h, h)), nn.LeakyReLU(0.2),
                                 sn(nn.Linear(h, h)), nn.LeakyReLU(0.2), nn.Linear(h, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def set_grad(module, flag):
    for p in module.parameters():
        p.requires_grad_(flag)


def report(points, real):
    d = torch.cdist(points, CENTRES)
    near, which = d.min(1)
    good = near < 0.45
    modes = which[good].unique().numel()
    energy = 2 * torch.cdist(points, real).mean() - torch.cdist(points, points).mean() - torch.cdist(real, real).mean()
    return modes, good.float().mean().item(), energy.item()


G, C = Generator(), Critic()
G_avg = copy.deepcopy(G)
# betas start at zero: momentum on a moving opponent overshoots
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.0, 0.9))
opt_c = torch.optim.Adam(C.parameters(), lr=2e-3, betas=(0.0, 0.9))
held_out = ring(2000, torch.Generator().manual_seed(7))

for step in range(1, STEPS + 1):
    set_grad(C, True)
    for _ in range(2):
        real, fake = ring(BATCH), G(BATCH).detach()
        both = C(torch.cat([real, fake]))
        loss_c = (1 - both[:BATCH]).relu().mean() + (1 + both[BATCH:]).relu().mean()
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()

    set_grad(C, False)
    loss_g = -C(G(BATCH)).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()

    with torch.no_grad():
        for a, b in zip(G_avg.parameters(), G.parameters()):
            a.mul_(0.99).add_(b, alpha=0.01)

    if step % 300 == 0:
        with torch.no_grad():
            m, share, e = report(G_avg(2000), held_out)
        print(f"step {step:5d}  critic {loss_c.item():.3f}  generator {loss_g.item():+.3f}  "
              f"modes {m}/8  near a mode {share:.2f}  energy {e:.4f}")

with torch.no_grad():
    m, share, e = report(G_avg(2000), held_out)
    gm, gshare, ge = report(held_out.mean(0) + held_out.std(0) * torch.randn(2000, 2), held_out)
    um, ushare, ue = report(copy.deepcopy(Generator())(2000), held_out)
print(f"generator: {m}/8 modes, {share:.2f} near a mode, energy distance to unseen points {e:.4f}")
print(f"fitted gaussian: {gshare:.2f} near a mode, energy {ge:.4f};  untrained generator: {ushare:.2f}, {ue:.4f}")
