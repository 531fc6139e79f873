import math

import torch
from torch import nn

torch.manual_seed(0)


def real_points(n):
    angle = torch.rand(n) * 2 * math.pi
    return torch.stack([angle.cos(), angle.sin()], 1) + 0.05 * torch.randn(n, 2)


generator = nn.Sequential(nn.Linear(8, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 2))
critic = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(128, 1), torch.zeros(128, 1)

for it in range(600):
    real = real_points(128)
    fake = generator(torch.randn(128, 8))

    opt_d.zero_grad()
    d_loss = bce(critic(real), ones) + bce(critic(fake.detach()), zeros)
    d_loss.backward()
    opt_d.step()

    opt_g.zero_grad()
    g_loss = bce(critic(fake), ones)
    g_loss.backward()
    opt_g.step()

    if it % 100 == 0:
        radius = fake.detach().norm(dim=1)
        print(f"{it}: d {d_loss.item():.3f} g {g_loss.item():.3f} radius {radius.mean():.2f} +- {radius.std():.2f}")
