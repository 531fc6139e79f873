"""A GAN that draws points of a noisy arc in three dimensions."""
import torch
import torch.nn as nn

torch.manual_seed(0)


def helix(n):
    t = torch.rand(n) * 4
    pts = torch.stack([torch.cos(t), torch.sin(t), t / 2 - 1], 1)
    return pts + 0.05 * torch.randn(n, 3)


class Generator(nn.Sequential):
    def __init__(self, noise=8):
        super().__init__(nn.Linear(noise, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))
        self.noise = noise

    def sample(self, n):
        return self(torch.randn(n, self.noise))


G = Generator()
D = nn.Sequential(nn.Linear(3, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.99))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.99))
bce = nn.BCEWithLogitsLoss()


@torch.no_grad()
def energy_distance(n=800):
    a, b = helix(n), G.sample(n)
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


print(f"before: energy distance {energy_distance():.4f}")
for step in range(4000):
    real = helix(128)
    with torch.no_grad():
        fake = G.sample(128)
    loss_d = bce(D(real), torch.full((128, 1), 0.9)) + bce(D(fake), torch.zeros(128, 1))
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()

    D.requires_grad_(False)
    loss_g = bce(D(G.sample(128)), torch.ones(128, 1))
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    D.requires_grad_(True)
    if (step + 1) % 500 == 0:
        print(f"{step + 1} D {loss_d.item():.3f} G {loss_g.item():.3f} energy distance {energy_distance():.4f}")
