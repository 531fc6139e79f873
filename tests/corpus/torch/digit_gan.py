"""Tiny GAN on the 8x8 digits. Quality is a Frechet distance on PCA features of held-out digits."""
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from scipy import linalg
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA


@dataclass
class Config:
    latent: int = 24
    batch: int = 64
    steps: int = 3000
    lr_g: float = 6e-4
    lr_d: float = 4e-4
    report: int = 500
    seed: int = 5


cfg = Config()
torch.manual_seed(cfg.seed)

images = load_digits().data.astype("float32") / 8.0 - 1.0
perm = np.random.default_rng(cfg.seed).permutation(len(images))
held_out, train = images[perm[:500]], torch.tensor(images[perm[500:]])
pca = PCA(16, random_state=0).fit(train.numpy())


def frechet(a, b):
    a, b = pca.transform(a), pca.transform(b)
    mu = a.mean(0) - b.mean(0)
    ca, cb = np.cov(a.T), np.cov(b.T)
    root = linalg.sqrtm(ca @ cb)
    return float(mu @ mu + np.trace(ca + cb - 2 * np.real(root)))


class Generator(nn.Module):
    def __init__(self, latent):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(latent, 128), nn.BatchNorm1d(128), nn.ReLU(),
            nn.Linear(128, 128), nn.BatchNorm1d(128), nn.ReLU(),
            nn.Linear(128, 64), nn.Tanh(),
        )

    def forward(self, z):
        return self.body(z)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(64, 128), nn.LeakyReLU(0.2), nn.Dropout(0.3),
            nn.Linear(128, 64), nn.LeakyReLU(0.2), nn.Dropout(0.3),
            nn.Linear(64, 1),
        )

    def forward(self, x):
        return self.body(x).squeeze(1)


gen, disc = Generator(cfg.latent), Critic()
opt_g = torch.optim.Adam(gen.parameters(), lr=cfg.lr_g, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(disc.parameters(), lr=cfg.lr_d, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()


@torch.no_grad()
def sample(n):
    gen.eval()
    out = gen(torch.randn(n, cfg.latent)).numpy()
    gen.train()
    return out


print(f"untrained generator  FD {frechet(sample(1000), held_out):.2f}")
for step in range(1, cfg.steps + 1):
    real = train[torch.randint(len(train), (cfg.batch,))]
    z = torch.randn(cfg.batch, cfg.latent)
    fake = gen(z).detach()

    # critic
    d_real, d_fake = disc(real), disc(fake)
    d_loss = bce(d_real, torch.full_like(d_real, 0.9)) + bce(d_fake, torch.zeros_like(d_fake))
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()

    # generator
    score = disc(fake)
    g_loss = bce(score, torch.ones_like(score))
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()

    if step % cfg.report == 0:
        fd = frechet(sample(1000), held_out)
        print(f"step {step:5d}  d_loss {d_loss.item():.3f}  g_loss {g_loss.item():.3f}  FD {fd:.2f}")

noise = np.random.default_rng(0).uniform(-1, 1, (1000, 64)).astype("float32")
print(f"uniform noise FD {frechet(noise, held_out):.2f}, real train FD {frechet(train.numpy(), held_out):.2f}")
print(f"generator FD on held-out digits: {frechet(sample(1000), held_out):.2f} (lower is better)")
