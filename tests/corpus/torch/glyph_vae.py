"""Variational autoencoder for 8x8 handwritten glyphs."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from sklearn.datasets import load_digits

torch.manual_seed(21)
pixels = torch.tensor(load_digits().data, dtype=torch.float32) / 16.0
perm = torch.randperm(len(pixels))
train, held = pixels[perm[:1500]], pixels[perm[1500:]]


class Encoder(nn.Module):
    def __init__(self, d, z):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d, 128), nn.GELU(), nn.Linear(128, 64), nn.GELU())
        self.mu, self.logvar = nn.Linear(64, z), nn.Linear(64, z)

    def forward(self, x):
        h = self.net(x)
        return self.mu(h), self.logvar(h)


class VAE(nn.Module):
    def __init__(self, d=64, z=10):
        super().__init__()
        self.enc = Encoder(d, z)
        self.dec = nn.Sequential(
            nn.Linear(z, 64), nn.GELU(), nn.Linear(64, 128), nn.GELU(),
            nn.Linear(128, d), nn.Sigmoid())

    def forward(self, x):
        mu, logvar = self.enc(x)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(z), mu, logvar


def elbo_terms(x, recon, mu, logvar):
    rec = nn.functional.mse_loss(recon, x)
    kld = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
    return rec, kld


vae = VAE()
opt = torch.optim.Adam(vae.parameters(), lr=2e-3)
loader = DataLoader(TensorDataset(train), batch_size=100, shuffle=True)

BETA = 0.25
for epoch in range(1, 61):
    vae.train()
    sums = [0.0, 0.0]
    for (x,) in loader:
        recon, mu, logvar = vae(x)
        rec, kld = elbo_terms(x, recon, mu, logvar)
        loss = rec + BETA * kld
        opt.zero_grad()
        loss.backward()
        opt.step()
        sums[0] += rec.item()
        sums[1] += kld.item()
    if epoch % 10 == 0:
        print(f"epoch {epoch:3d} rec {sums[0] / len(loader):.4f} kld {sums[1] / len(loader):.4f}")

vae.eval()
with torch.no_grad():
    mu, _ = vae.enc(held)
    err = (vae.dec(mu) - held).pow(2).mean().item()
    base = (train.mean(0) - held).pow(2).mean().item()
print(f"held-out reconstruction mse per pixel {err:.4f}")
print(f"mean-image baseline                   {base:.4f}")
print(f"explained share                       {1 - err / base:.3f}")
print(f"spread of the codes                   {mu.std(0).mean().item():.3f}")
