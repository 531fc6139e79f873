import torch
import torch.nn as nn
from sklearn.datasets import make_moons

torch.manual_seed(7)

data, _ = make_moons(n_samples=4000, noise=0.05, random_state=7)
data = torch.tensor(data, dtype=torch.float32)
data = (data - data.mean(0)) / data.std(0)

latent_dim, batch_size = 8, 128

generator = nn.Sequential(
    nn.Linear(latent_dim, 64), nn.LeakyReLU(0.2),
    nn.Linear(64, 64), nn.LeakyReLU(0.2),
    nn.Linear(64, 2))
discriminator = nn.Sequential(
    nn.Linear(2, 64), nn.LeakyReLU(0.2),
    nn.Linear(64, 64), nn.LeakyReLU(0.2),
    nn.Linear(64, 1))

opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(discriminator.parameters(), lr=1e-3, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(batch_size, 1), torch.zeros(batch_size, 1)


def coverage(n=1000):
    """distance from samples to the data, and from the data to samples"""
    with torch.no_grad():
        d = torch.cdist(generator(torch.randn(n, latent_dim)), data[:n])
    return d.min(1).values.mean().item(), d.min(0).values.mean().item()


for step in range(1, 1501):
    real = data[torch.randint(0, len(data), (batch_size,))]
    fake = generator(torch.randn(batch_size, latent_dim)).detach()

    # discriminator
    d_loss = bce(discriminator(real), ones) + bce(discriminator(fake), zeros)
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()

    # generator
    g_loss = bce(discriminator(fake), ones)
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()

    if step % 250 == 0:
        precision, recall = coverage()
        print(f"step {step}: D {d_loss.item():.3f}  G {g_loss.item():.3f}  "
              f"sample->data {precision:.3f}  data->sample {recall:.3f}")
