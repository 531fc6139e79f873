import math
import torch
import torch.nn as nn

torch.manual_seed(7)
device = "cuda" if torch.cuda.is_available() else "cpu"

angles = torch.arange(6) * (2 * math.pi / 6)
centres = torch.stack([angles.cos(), angles.sin()], 1) * 2.0


def real_batch(n):
    c = centres[torch.randint(0, 6, (n,))]
    return (c + 0.15 * torch.randn(n, 2)).to(device)


generator = nn.Sequential(
    nn.Linear(8, 64), nn.LeakyReLU(0.2),
    nn.Linear(64, 64), nn.LeakyReLU(0.2),
    nn.Linear(64, 2),
).to(device)
discriminator = nn.Sequential(
    nn.Linear(2, 64), nn.LeakyReLU(0.2),
    nn.Linear(64, 64), nn.LeakyReLU(0.2),
    nn.Linear(64, 1),
).to(device)

g_opt = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
d_opt = torch.optim.Adam(discriminator.parameters(), lr=1e-3, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()

batch = 128
ones = torch.ones(batch, 1, device=device)
zeros = torch.zeros(batch, 1, device=device)


def check(n=2000):
    with torch.no_grad():
        pts = generator(torch.randn(n, 8, device=device)).cpu()
    dist, nearest = torch.cdist(pts, centres).min(1)
    close = dist < 0.5
    found = (torch.bincount(nearest[close], minlength=6) > n * 0.03).sum().item()
    return close.float().mean().item(), found


for step in range(1, 4001):
    real = real_batch(batch)

    # generator
    fake = generator(torch.randn(batch, 8, device=device))
    g_loss = bce(discriminator(fake), ones)
    g_opt.zero_grad()
    g_loss.backward()
    g_opt.step()

    # discriminator
    d_loss = bce(discriminator(real), ones) + bce(discriminator(fake.detach()), zeros)
    g_opt.zero_grad()
    d_loss.backward()
    d_opt.step()

    if step % 500 == 0:
        close, found = check()
        print(f"step {step} d_loss {d_loss.item():.3f} g_loss {g_loss.item():.3f} near a petal {close:.2f} petals {found}/6")
