"""Toy GAN: learn a noisy ring of radius 2 around (1, -1)."""
import math

import torch
from torch import nn

torch.manual_seed(5)
BATCH, LATENT, STEPS = 128, 4, 1500


def real_batch(n):
    a = 2 * math.pi * torch.rand(n, 1)
    r = 2.0 + 0.1 * torch.randn(n, 1)
    return torch.cat([1.0 + r * torch.cos(a), -1.0 + r * torch.sin(a)], dim=1)


def mlp(n_in, n_out, width=64):
    return nn.Sequential(
        nn.Linear(n_in, width), nn.LeakyReLU(0.2),
        nn.Linear(width, width), nn.LeakyReLU(0.2),
        nn.Linear(width, n_out),
    )


generator = mlp(LATENT, 2)
critic = mlp(2, 1)
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.99))
opt_d = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.99))
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(BATCH, 1), torch.zeros(BATCH, 1)


@torch.no_grad()
def report(step, loss_d, loss_g):
    s = generator(torch.randn(2000, LATENT))
    centre = s.mean(0)
    radius = (s - torch.tensor([1.0, -1.0])).norm(dim=1)
    print(
        f"{step:5d}  D {loss_d:.3f}  G {loss_g:.3f}  "
        f"centre ({centre[0]:+.2f}, {centre[1]:+.2f})  "
        f"radius {radius.mean():.2f} +- {radius.std():.2f}"
    )


for step in range(1, STEPS + 1):
    real = real_batch(BATCH)
    fake = generator(torch.randn(BATCH, LATENT)).detach()

    # critic
    opt_d.zero_grad()
    loss_d = bce(critic(real), ones) + bce(critic(fake), zeros)
    loss_d.backward()
    opt_d.step()

    # generator
    opt_g.zero_grad()
    loss_g = bce(critic(fake), ones)
    loss_g.backward()
    opt_g.step()

    if step % 250 == 0:
        report(step, loss_d.item(), loss_g.item())
